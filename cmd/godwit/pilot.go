package main

import (
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/internal/logging"
	"godwit/pilot"
	"godwit/pilot/batch"
)

const (
	// defaultPoll leaves 8 of the 10 s that a local job may wait to the drain and the batch system.
	defaultPoll = 2 * time.Second
	leastPoll   = time.Second
	longestPoll = 10 * time.Minute
)

// pilotFlags are the flags of a pilot.
type pilotFlags struct {
	cfg                 pilot.Config
	spec                batch.Spec
	name, account, user string
	prefixed            bool // the names of placeholders begin with "godwit-"
	poll                time.Duration
	yield               string
	overlays, peers     []string
	swarmKey, config    string
	up                  []string
	logLevel, logFormat string
}

func newPilot() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pilot",
		Short: "Run pool nodes on the idle nodes of a cluster",
	}
	for _, sub := range []*cobra.Command{newPilotSlurm(), newPilotSGE(), newPilotPBS()} {
		sub.Args = explained(sub.Args)
		cmd.AddCommand(sub)
	}
	return cmd
}

// A cluster makes the batch system of a pilot whose flags are known. extra are the additional arguments of its submit
// command, and f.spec is the placeholders' node.
type cluster func(f *pilotFlags, extra []string) batch.System

// newPilotOf returns the subcommand for a batch system whose submit command is submit. The caller adds the system's own
// flags.
func newPilotOf(submit string, cmd *cobra.Command, system cluster) (*cobra.Command, *pilotFlags) {
	f := &pilotFlags{cfg: pilot.Default()}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if n := cmd.ArgsLenAtDash(); n > 0 || n < 0 && len(args) > 0 {
			return failure.Usage("arguments of "+submit+" follow --", "%q is no flag", args[0])
		}
		if err := f.configure(); err != nil {
			return err
		}
		if _, err := exec.LookPath(submit); err != nil {
			return failure.Usage("run the pilot on a login node of the cluster", "the batch system: %w", err)
		}
		log, err := newLog(cmd.ErrOrStderr(), f.logFormat, f.logLevel)
		if err != nil {
			return err
		}
		return batch.Run(cmd.Context(), system(f, args), pilot.New(f.cfg), f.poll, log)
	}
	f.add(cmd)
	return cmd, f
}

func (f *pilotFlags) add(cmd *cobra.Command) {
	s := cmd.Flags()
	s.IntVar(&f.cfg.Most, "most", 0, "maximum `NUMBER` of placeholders (required)")
	s.IntVar(&f.cfg.KeepIdle, "keep-idle", 0, "`NUMBER` of idle nodes left to local jobs")
	s.StringVar(&f.account, "account", "", "`ACCOUNT` to charge (default the user's default)")
	s.StringVar(&f.yield, "yield", string(f.cfg.Yield),
		"`WAY` in which placeholders end: graceful moves tasks to other members first, drastic cancels at once")
	s.DurationVar(&f.poll, "poll", defaultPoll, "interval between two looks at the queue")
	s.DurationVar(&f.cfg.Grace, "grace", f.cfg.Grace, "time for moving tasks with --yield graceful, at least 3s")
	s.DurationVar(&f.cfg.Quiet, "quiet", f.cfg.Quiet, "time without waiting local jobs before new placeholders")
	s.StringVar(&f.name, "name", "godwit-pilot",
		"job `NAME` of placeholders, by which a restarted pilot finds them; different for each pilot of a user")
	s.StringVar(&f.spec.Program, "program", "", "`FILE` of godwit on the cluster's nodes (default this program)")
	s.StringVar(&f.spec.Dir, "dir", "",
		"`DIR` on each node for the data of pool nodes (default /var/tmp/godwit-USER)")
	s.StringArrayVar(&f.overlays, "overlay", nil, "`OVERLAY` of the pool, as for godwit up (repeatable)")
	s.StringArrayVar(&f.peers, "peer", nil, "`MULTIADDR` of a peer, as for godwit up (repeatable)")
	s.StringVar(&f.swarmKey, "swarm-key", "", "`FILE` with a private swarm's key")
	s.StringVar(&f.config, "config", "", "`FILE` with the owner's rules (default rules that lend the whole node)")
	s.StringArrayVar(&f.up, "up", nil, "additional `FLAG` of godwit up on each node, such as --up=--no-mdns (repeatable)")
	s.StringVar(&f.logLevel, "log-level", "info", "`LEVEL` of the log: debug, info, warn or error")
	s.StringVar(&f.logFormat, "log-format", logging.Formats()[0],
		"`FORMAT` of the log's lines: "+strings.Join(logging.Formats(), " or "))
}
