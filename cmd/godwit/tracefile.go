package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/trace"
)

// traceFlags say where a trace comes from: a file, a directory of per-second
// files, or a generator.
type traceFlags struct {
	from, epoch, snapshots, synth string
	hosts, days                   int
	seed                          uint64
}

func (f *traceFlags) add(cmd *cobra.Command) {
	f.addSynth(cmd)
	cmd.Flags().StringVar(&f.synth, "synth", "", "make a set of this kind instead of reading a file: "+strings.Join(synthKinds(), " "))
	f.addFile(cmd)
}

func (f *traceFlags) addFile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.from, "from", "", fmt.Sprintf("the file's format, if its name does not tell: %v", trace.Formats()))
	cmd.Flags().StringVar(&f.epoch, "epoch", "", "date and time of the file's second 0, such as 2025-12-11T20:21:02Z (default 1970)")
	cmd.Flags().StringVar(&f.snapshots, "snapshots", "", "file with the times at which the hosts were looked at")
}

func (f *traceFlags) addSynth(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.hosts, "hosts", 0, "how many hosts to make (default: as many as the set that it is like)")
	cmd.Flags().IntVar(&f.days, "days", 0, "how many days to make (default: as many as that set)")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the generator")
}

func synthKinds() (names []string) {
	for _, k := range trace.SynthKinds() {
		names = append(names, k[0])
	}
	return names
}

// load reads the trace at path, or makes the one that --synth names if path is
// "". What is wrong with either is a usage error.
func (f *traceFlags) load(path string) (*trace.Trace, error) {
	switch {
	case path == "" && f.synth == "":
		return nil, usage("name a file, or a kind with --synth", "no trace is named")
	case path != "" && f.synth != "":
		return nil, usage("leave out one of them", "both a file and --synth are given")
	case f.synth != "":
		t, err := trace.Synthesize(f.synth, trace.SynthConfig{Hosts: f.hosts, Days: f.days, Seed: f.seed})
		if err != nil {
			return nil, usage("", "%w", err)
		}
		return t, nil
	}
	o := trace.ReadOptions{Format: trace.Format(f.from)}
	if f.epoch != "" {
		var err error
		if o.Epoch, err = time.Parse(time.RFC3339, f.epoch); err != nil {
			return nil, usage("write it like 2025-12-11T20:21:02Z", "--epoch %q is not a date and time", f.epoch)
		}
	}
	t, err := readTrace(path, o)
	if err != nil {
		return nil, usage("", "reading the trace: %w", err)
	}
	if f.snapshots != "" {
		err := withFile(f.snapshots, func(r io.Reader) error { return trace.ReadSnapshots(t, f.snapshots, r) })
		if err != nil {
			return nil, usage("", "reading the snapshots: %w", err)
		}
	}
	return t, nil
}

func withFile(path string, read func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}

func readTrace(path string, o trace.ReadOptions) (*trace.Trace, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		return readTraceDir(path)
	}
	var t *trace.Trace
	err := withFile(path, func(r io.Reader) (err error) {
		t, err = trace.Read(path, r, o)
		return err
	})
	return t, err
}

// resourceFile is the list of machines in a Desktop Grid Trace Archive set.
const resourceFile = "Resourceinfo.dat"

// readTraceDir reads a Desktop Grid Trace Archive set: files of one host each,
// named HOST or HOST.ANYTHING, of which several may be of one host, in the order
// of their names.
func readTraceDir(dir string) (*trace.Trace, error) {
	resources := map[string]trace.Resource{}
	list := filepath.Join(dir, resourceFile)
	err := withFile(list, func(r io.Reader) (err error) {
		resources, err = trace.ReadResources(list, r)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var parts []*trace.Trace
	for _, e := range entries {
		if e.Name() == resourceFile || !e.Type().IsRegular() {
			continue
		}
		host, _, _ := strings.Cut(e.Name(), ".")
		t, err := readTrace(filepath.Join(dir, e.Name()), trace.ReadOptions{Format: trace.DGTA, MaxCycles: resources[host].Cycles})
		if err != nil {
			return nil, err
		}
		t.Hosts[0].GHz = resources[host].GHz
		parts = append(parts, t)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s: no files in it", dir)
	}
	return trace.Join(filepath.Base(dir), parts)
}

// formatOf tells the format to write from a file's name.
func formatOf(path string) (trace.Format, error) {
	switch ext := filepath.Ext(strings.TrimSuffix(path, ".gz")); ext {
	case ".csv":
		return trace.CSV, nil
	case ".tab":
		return trace.FTA, nil
	case ".avt":
		return trace.AVT, nil
	}
	return "", usage(fmt.Sprintf("name one with --to: %v", trace.Formats()), "no format belongs to the name %s", path)
}

// writeTrace writes a trace, gzipped if the path ends in .gz; DGTA writes a
// directory with a file a host.
func writeTrace(path string, t *trace.Trace, f trace.Format) error {
	if f != trace.DGTA {
		return writeTo(path, func(w io.Writer) error { return trace.Write(w, t, f) })
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	for _, h := range t.Hosts {
		if name := h.History.Host; name != filepath.Base(name) || strings.ContainsAny(name, `/\.`) {
			return usage("convert to another format", "host %q cannot name a file", name)
		}
		one := &trace.Trace{Hosts: []trace.Host{h}, Synthetic: t.Synthetic}
		err := writeTo(filepath.Join(path, h.History.Host), func(w io.Writer) error { return trace.Write(w, one, trace.DGTA) })
		if err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes a file, gzipped if its name ends in .gz.
func writeTo(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !strings.HasSuffix(path, ".gz") {
		return write(f)
	}
	z := gzip.NewWriter(f)
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}
