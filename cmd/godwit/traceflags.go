package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"godwit/lab/traces"
	"godwit/trace"
)

func addTrace(f *traces.Source, cmd *cobra.Command) {
	addSynth(f, cmd)
	cmd.Flags().StringVar(&f.Kind, "synth", "",
		"make a set of this kind instead of reading a file, with a rhythm of the day if "+trace.RhythmUsage+
			" stands behind it: "+strings.Join(synthKinds(), " "))
	addTraceFile(f, cmd)
}

func addTraceFile(f *traces.Source, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Format, "from", "", fmt.Sprintf("the file's format, if its name does not tell: %v",
		trace.Formats()))
	cmd.Flags().StringVar(&f.Epoch, "epoch", "",
		"date and time of the file's second 0, such as 2025-12-11T20:21:02Z (default 1970)")
	cmd.Flags().StringVar(&f.Snapshots, "snapshots", "", "file with the times at which the hosts were looked at")
}

func addSynth(f *traces.Source, cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.Hosts, "hosts", 0, "how many hosts to make (default: as many as the set that it is like)")
	cmd.Flags().IntVar(&f.Days, "days", 0, "how many days to make (default: as many as that set)")
	cmd.Flags().Uint64Var(&f.Seed, "seed", 1, "seed of the generator")
}

func synthKinds() (names []string) {
	for _, k := range trace.SynthKinds() {
		names = append(names, k[0])
	}
	return names
}
