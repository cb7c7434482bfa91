package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
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
	slurm               batch.Slurm
	spec                batch.Spec
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
	sub := newPilotSlurm()
	sub.Args = explained(sub.Args)
	cmd.AddCommand(sub)
	return cmd
}

func newPilotSlurm() *cobra.Command {
	f := pilotFlags{cfg: pilot.Default()}
	cmd := &cobra.Command{
		Use:   "slurm --most N [-- SBATCH-ARG...]",
		Short: "Run pool nodes on the idle nodes of a Slurm cluster",
		Long: `Run pool nodes on the idle nodes of a Slurm cluster. The pilot submits a placeholder job for each
idle node, and a placeholder runs ` + "`godwit up`" + `. If local jobs wait for nodes, the pilot ends as many
placeholders as they need. Run it on a login node, as a user that may submit jobs. The program and
the files that flags name must have the same path on all nodes. Ctrl-C ends all placeholders.`,
		Example: `  godwit pilot slurm --most 20 --overlay @/home/me/lab.ticket
  godwit pilot slurm --most 20 --keep-idle 2 --partition night -- --qos=scavenger --time=8:00:00`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 0 || n < 0 && len(args) > 0 {
				return failure.Usage("arguments of sbatch follow --", "%q is no flag", args[0])
			}
			f.slurm.Extra = args
			if err := f.configure(); err != nil {
				return err
			}
			if _, err := exec.LookPath("sbatch"); err != nil {
				return failure.Usage("run the pilot on a login node of the cluster", "Slurm: %w", err)
			}
			log, err := newLog(cmd.ErrOrStderr(), f.logFormat, f.logLevel)
			if err != nil {
				return err
			}
			return batch.Run(cmd.Context(), &f.slurm, pilot.New(f.cfg), f.poll, log)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *pilotFlags) add(cmd *cobra.Command) {
	s := cmd.Flags()
	s.IntVar(&f.cfg.Most, "most", 0, "maximum `NUMBER` of placeholders (required)")
	s.IntVar(&f.cfg.KeepIdle, "keep-idle", 0, "`NUMBER` of idle nodes left to local jobs")
	s.StringVar(&f.slurm.Partition, "partition", "", "`PARTITION` for placeholders (default the cluster's default)")
	s.StringVar(&f.slurm.Account, "account", "", "`ACCOUNT` to charge (default the user's default)")
	s.StringVar(&f.yield, "yield", string(f.cfg.Yield),
		"`WAY` in which placeholders end: graceful moves tasks to other members first, drastic cancels at once")
	s.DurationVar(&f.poll, "poll", defaultPoll, "interval between two looks at the queue")
	s.DurationVar(&f.cfg.Grace, "grace", f.cfg.Grace, "time for moving tasks with --yield graceful, at least 3s")
	s.DurationVar(&f.cfg.Quiet, "quiet", f.cfg.Quiet, "time without waiting local jobs before new placeholders")
	s.StringVar(&f.slurm.Name, "name", "godwit-pilot",
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

// placeName matches names that squeue prints unchanged.
var placeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// configure checks the flags and derives the placeholders' script from them.
func (f *pilotFlags) configure() error {
	f.cfg.Yield = pilot.Yield(f.yield)
	if err := f.cfg.Validate(); err != nil {
		return failure.Usage("for example --most 20", "%w", err)
	}
	switch {
	case f.poll < leastPoll || f.poll > longestPoll:
		return failure.Usage("leave --poll out", "--poll: %v, want %v to %v", f.poll, leastPoll, longestPoll)
	case f.cfg.Grace < 3*time.Second:
		return failure.Usage("use --yield drastic instead", "--grace: %v, want at least 3s", f.cfg.Grace)
	case !placeName.MatchString(f.slurm.Name):
		return failure.Usage("use letters, digits, dots, dashes and underscores", "--name: %q", f.slurm.Name)
	}
	me, err := user.Current()
	if err != nil {
		return fmt.Errorf("finding the user's name: %w", err)
	}
	f.slurm.User = me.Username
	if f.spec.Program == "" {
		if f.spec.Program, err = os.Executable(); err != nil {
			return fmt.Errorf("finding this program: %w", err)
		}
	}
	if f.spec.Dir == "" {
		f.spec.Dir = "/var/tmp/godwit-" + me.Username
	}
	if !filepath.IsAbs(f.spec.Program) || !filepath.IsAbs(f.spec.Dir) {
		return failure.Usage("write paths from /", "--program %s, --dir %s", f.spec.Program, f.spec.Dir)
	}
	f.spec.Grace = f.cfg.Grace
	if f.spec.Flags, err = f.upFlags(); err != nil {
		return err
	}
	f.slurm.Script = batch.SlurmScript(&f.spec)
	return nil
}

// upFlags returns the flags of godwit up on the cluster's nodes.
func (f *pilotFlags) upFlags() ([]string, error) {
	var flags []string
	for _, o := range f.overlays {
		if path, isFile := strings.CutPrefix(o, "@"); isFile {
			if _, err := overlayNamed(o, nil); err != nil {
				return nil, err
			}
			full, err := filepath.Abs(path)
			if err != nil {
				return nil, err
			}
			o = "@" + full
		}
		flags = append(flags, "--overlay="+o)
	}
	for _, p := range f.peers {
		flags = append(flags, "--peer="+p)
	}
	for name, path := range map[string]string{"--swarm-key": f.swarmKey, "--config": f.config} {
		if path == "" {
			continue
		}
		full, err := filepath.Abs(path)
		if err == nil {
			_, err = os.Stat(full)
		}
		if err != nil {
			return nil, failure.Usage("", "%s: %w", name, err)
		}
		flags = append(flags, name+"="+full)
	}
	flags = append(flags, f.up...)
	up := newUp()
	if err := up.ParseFlags(flags); err != nil {
		return nil, failure.Usage("`godwit up --help` lists the flags", "flags of up: %w", err)
	}
	if rest := up.Flags().Args(); len(rest) > 0 {
		return nil, failure.Usage("write --up=--cores=2, with both equal signs", "--up: %q is no flag of up", rest[0])
	}
	f.spec.Rules = !up.Flags().Changed("config")
	for _, own := range []string{"data-dir", "api", "ready-fd"} {
		if up.Flags().Changed(own) {
			return nil, failure.Usage("leave it out", "--up: --%s is set by the pilot", own)
		}
	}
	return flags, nil
}
