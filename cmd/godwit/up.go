package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/internal/logging"
	"godwit/lab/testbed/impose"
	"godwit/lab/traces"
	"godwit/node"
	"godwit/owner"
	"godwit/task"
	"godwit/trace"
)

// defaultAPI is where the API listens unless told otherwise.
const defaultAPI = "127.0.0.1:7733"

// upFlags are the configuration of a node, and the flags that it follows from.
type upFlags struct {
	cfg                    node.Config
	noMDNS                 bool
	memory                 string
	logLevel, logFormat    string
	replay, imposed, rates string // for experiments; "": none
	doors                  doors
	bootstrapKeys          []string
}

func newUp() *cobra.Command {
	var u upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run a node in the foreground",
		Long: `Run a node in the foreground: it finds peers, lends this machine to their jobs
and takes in yours. End it with Ctrl-C.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimits(); err != nil {
				return err
			}
			if err := u.configure(cmd.ErrOrStderr()); err != nil {
				return err
			}
			node.LimitMemory()
			return serve(cmd.Context(), cmd.OutOrStdout(), u.cfg, u.doors)
		},
	}
	u.add(cmd)
	u.addBootstrap(cmd.Flags())
	return cmd
}

func (u *upFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&u.cfg.DataDir, "data-dir", defaultDataDir(), "`DIR` where identity, jobs and blocks are kept")
	f.StringVar(&u.cfg.RulesFile, "config", "", "`FILE` with the owner's rules (default DATA-DIR/"+rulesName+")")
	f.StringArrayVar(&u.cfg.Listen, "listen", nil,
		"`MULTIADDR` to listen on (repeatable; default every interface, at a port that is drawn once and kept)")
	f.StringArrayVar(&u.cfg.Bootstrap, "peer", nil,
		"`MULTIADDR` of a peer to stay connected to, with /p2p/ID (repeatable; remembered, until godwit peers remove)")
	f.BoolVar(&u.noMDNS, "no-mdns", false, "do not look for peers on the local network")
	f.BoolVar(&u.cfg.NoRelay, "no-relay", false,
		"carry no data between members that cannot reach each other directly (default 1GiB a day for those with whom "+
			"this node does not work: relay_per_day of the rules)")
	f.BoolVar(&u.cfg.NoPortMapping, "no-port-mapping", false,
		"do not ask the router to open this node's port to others (by PCP, NAT-PMP or UPnP; with --swarm-key it is "+
			"never asked)")
	f.StringVar(&u.cfg.SwarmKey, "swarm-key", "", "`FILE` with a private swarm's key")
	f.StringArrayVar(&u.cfg.Overlays, "overlay", nil,
		"`OVERLAY` to serve: a name, an ID, NAME@ADDRESS, or @FILE with a ticket (repeatable; default those served "+
			"before, else "+node.DefaultOverlay+")")
	f.StringVar(&u.doors.api, "api", defaultAPI, "loopback `ADDRESS` of the API; \"\" for the socket only")
	f.StringVar(&u.doors.lan, "lan", "",
		"`ADDRESS` of the dashboard for other machines of your network, such as 0.0.0.0:7734: over TLS, and for the "+
			"password of godwit password")
	f.IntVar(&u.cfg.Cores, "cores", 0, "run at most `N` tasks at once, whatever the rules say (default every core)")
	f.StringVar(&u.memory, "memory", "", "lend at most this `SIZE` of memory, like 2GiB, whatever the rules say")
	f.StringVar(&u.doors.metrics, "metrics", "",
		"loopback `ADDRESS` at which /metrics, /healthz and /readyz are answered without a token (default at --api alone)")
	f.StringVar(&u.logLevel, "log-level", "info",
		"`LEVEL` of what is logged: debug, info, warn or error; of an area by AREA=LEVEL behind a comma, such as "+
			"info,p2p=debug ("+strings.Join(logging.Areas(), ", ")+")")
	f.StringVar(&u.logFormat, "log-format", logging.Formats()[0],
		"`FORMAT` of the log's lines: "+strings.Join(logging.Formats(), " or "))
	f.IntVar(&u.doors.readyFD, "ready-fd", 0,
		"file descriptor `FD` to which one JSON line is written when the node is ready (0: none)")
	f.StringVar(&u.cfg.Experiment.Runner, "runner", node.RunWasm,
		"`RUNNER` of tasks: wasm, or sleep, which runs nothing and waits for the work time of the job file")
	f.StringVar(&u.replay, "replay", "",
		"trace `FILE` of one host, in times of the wall clock, that plays the owner in place of the sensors: for experiments")
	f.StringVar(&u.cfg.Site, "site", "",
		"`NAME` of the group of members that this one belongs to, such as a cluster or an office, for policies "+
			"of fair shares")
	f.StringVar(&u.imposed, "impose", "",
		`speeds of --runner sleep by the class of a job, such as 1=2,2=0.5,*=1: for experiments`)
	f.StringVar(&u.rates, "rates", "",
		"CSV file CLASS,PEER,RATE of execution rates, and CLASS,arrivals,RATE, in tasks a second, that are known when "+
			"this node begins to lead: for experiments")
	if err := errors.Join(f.MarkHidden("impose"), f.MarkHidden("rates")); err != nil {
		panic(err) // they are there
	}
}

// configure fills in what flags say in words; the node logs to log.
func (u *upFlags) configure(log io.Writer) error {
	c := &u.cfg
	c.MDNS = !u.noMDNS
	c.Version = programVersion()
	err := errors.Join(u.findRules(), u.lendMemory(), u.doors.check())
	if err != nil {
		return err
	}
	if c.BootstrapKeys, err = keysOf(u.bootstrapKeys); err != nil {
		return err
	}
	for i, named := range c.Overlays {
		if strings.HasPrefix(named, "@") {
			if c.Overlays[i], err = overlayNamed(named, nil); err != nil {
				return err
			}
		}
	}
	if u.replay != "" {
		if c.Experiment.Replay, err = readReplay(u.replay); err != nil {
			return err
		}
	}
	if c.Experiment.Speeds, err = impose.ReadSpeeds(u.imposed); err != nil {
		return err
	}
	if u.rates != "" {
		if c.Experiment.Rates, err = impose.ReadRates(u.rates); err != nil {
			return err
		}
	}
	if c.Log, err = newLog(log, u.logFormat, u.logLevel); err != nil {
		return err
	}
	c.Sandbox, err = sandboxCommand()
	return err
}

// findRules settles where the owner's rules are.
func (u *upFlags) findRules() error {
	if u.cfg.RulesFile == "" {
		u.cfg.RulesFile = filepath.Join(u.cfg.DataDir, rulesName)
		return nil
	}
	return rulesThere(u.cfg.RulesFile)
}

// lendMemory reads the most memory to lend, if it is given.
func (u *upFlags) lendMemory() error {
	if u.memory == "" {
		return nil
	}
	n, err := task.ParseSize(u.memory)
	has := node.Machine().Memory
	switch {
	case err != nil:
		return failure.Usage("sizes are written like 2GiB", "--memory: %w", err)
	case n < owner.LeastMemory:
		return failure.Usage("write a size with its unit, like 2GiB",
			"--memory: %s is too little for any program: the least is %s",
			task.FormatSize(n), task.FormatSize(owner.LeastMemory))
	case n > has:
		return failure.Usage("leave --memory out to lend what the rules say",
			"--memory: %s is more than this machine has: %s", task.FormatSize(n), task.FormatSize(has))
	}
	u.cfg.Memory = n
	return nil
}

// readReplay reads the trace that plays the owner.
func readReplay(path string) (*trace.History, error) {
	t, err := traces.Read(path, trace.ReadOptions{})
	if err != nil {
		return nil, failure.Usage("", "--replay: %w", err)
	}
	if len(t.Hosts) != 1 {
		return nil, failure.Usage("write a file with the host to replay alone", "--replay: %s has %d hosts, not one", path,
			len(t.Hosts))
	}
	return t.Hosts[0].History, nil
}
