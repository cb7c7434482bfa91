package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/testbed/impose"
	"godwit/lab/traces"
	"godwit/node"
	"godwit/task"
	"godwit/trace"
)

// defaultAPI is where the API listens unless told otherwise.
const defaultAPI = "127.0.0.1:7733"

// upFlags are the configuration of a node, and the flags that it follows from.
type upFlags struct {
	cfg                    node.Config
	noMDNS                 bool
	api, logLevel, memory  string
	replay, imposed, rates string // for experiments; "": none
	readyFD                int
}

func newUp() *cobra.Command {
	var u upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run a node in the foreground",
		Long: `Run a node in the foreground: it finds peers, lends this machine to their jobs
and takes in yours. End it with Ctrl-C.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := u.configure(cmd.ErrOrStderr()); err != nil {
				return err
			}
			return serve(cmd.Context(), cmd.OutOrStdout(), u.cfg, u.api, u.readyFD)
		},
	}
	u.add(cmd)
	return cmd
}

func (u *upFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&u.cfg.DataDir, "data-dir", defaultDataDir(), "where identity, jobs and blocks are kept")
	f.StringVar(&u.cfg.RulesFile, "config", "", "file with the owner's rules (default DATA-DIR/"+rulesName+")")
	f.StringArrayVar(&u.cfg.Listen, "listen", nil,
		"multiaddr to listen on (repeatable; default every interface, any port)")
	f.StringArrayVar(&u.cfg.Bootstrap, "peer", nil, "multiaddr of a peer to stay connected to, with /p2p/ID (repeatable)")
	f.BoolVar(&u.noMDNS, "no-mdns", false, "do not look for peers on the local network")
	f.BoolVar(&u.cfg.NoRelay, "no-relay", false, "carry nothing for members that cannot reach each other directly")
	f.StringVar(&u.cfg.SwarmKey, "swarm-key", "", "file with a private swarm's key")
	f.StringArrayVar(&u.cfg.Overlays, "overlay", nil,
		"overlay to serve: a name, an ID, or @FILE with a ticket (repeatable; default those served before, else "+
			node.DefaultOverlay+")")
	f.StringVar(&u.api, "api", defaultAPI, `loopback address of the API; "" for the socket only`)
	f.IntVar(&u.cfg.Cores, "cores", 0, "most tasks to run at once, whatever the rules say (default every core)")
	f.StringVar(&u.memory, "memory", "", "most memory to lend to tasks, whatever the rules say, like 2GiB")
	f.StringVar(&u.logLevel, "log-level", "info", "debug, info, warn or error")
	f.IntVar(&u.readyFD, "ready-fd", 0, "file descriptor to write one JSON line to when ready (0: none)")
	f.StringVar(&u.cfg.Experiment.Runner, "runner", node.RunWasm,
		`what runs tasks: "wasm", or "sleep" to only wait their work time`)
	f.StringVar(&u.replay, "replay", "",
		"trace of one host, in times of the wall clock, that plays the owner in place of the sensors: for experiments")
	f.StringVar(&u.cfg.Site, "site", "",
		"group of members that this one belongs to, such as a cluster or an office, for policies of fair shares")
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
	if c.RulesFile == "" {
		c.RulesFile = filepath.Join(c.DataDir, rulesName)
	}
	var err error
	for i, named := range c.Overlays {
		if strings.HasPrefix(named, "@") {
			if c.Overlays[i], err = overlayNamed(named, nil); err != nil {
				return err
			}
		}
	}
	if u.memory != "" {
		if c.Memory, err = task.ParseSize(u.memory); err != nil {
			return failure.Usage("sizes are written like 2GiB", "--memory: %w", err)
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
	if c.Log, err = newLog(log, u.logLevel); err != nil {
		return err
	}
	c.Sandbox, err = sandboxCommand()
	return err
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
