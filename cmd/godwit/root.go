package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/internal/failure"
)

// newRoot builds the command tree; nothing in it is shared between calls.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "godwit",
		Short:         "Peer-to-peer volunteer computing: lend idle time, or hand a job to any peer",
		Version:       programVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Example: `  godwit up                          lend this machine's idle time
  godwit run render.yaml --out out   hand in a job and collect its results
  godwit why bafy...                 why does it wait?`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnv(cmd.Flags()) },
	}
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: "volunteer", Title: "Volunteer:"},
		&cobra.Group{ID: "owner", Title: "Project owner:"},
		&cobra.Group{ID: "researcher", Title: "Researcher:"},
	)
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			c.Args = explained(c.Args)
			root.AddCommand(c)
		}
	}
	add("volunteer", newUp(), newOpen(), newPassword(), newStatus(), newPause(), newResume(), newDrain(), newConfig(),
		newDoctor(), newPeers(), newHistory(), newForecast(), newCredit(), newService(), newPilot(), newBootstrap(),
		newVersion(), newUpdate())
	add("owner", newRun(), newPlan(), newMap(), newJobs(), newJob(), newResults(), newLogs(), newRetry(), newAdd(),
		newCancel(), newForget(), newVerify(), newWhy(), newProof(),
		newOverlay(), newNew(), newBuild(), newInterpreter(), newInspect(), newExec())
	add("researcher", newSim(), newSwarm(), newExperiment(), newTrace(), newScore(), newReproduce(), newBurn())
	addCompletions(root)
	return root
}

// fromEnv sets every flag that was not given from GODWIT_FLAG_NAME.
func fromEnv(flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "GODWIT_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		v, ok := os.LookupEnv(name)
		if !ok || f.Changed || err != nil {
			return
		}
		if e := flags.Set(f.Name, v); e != nil {
			err = failure.Usage("", "environment variable %s: %w", name, e)
		}
	})
	return err
}
