package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/testbed"
	"godwit/lab/testbed/impose"
	"godwit/lab/traces"
	"godwit/node"
	"godwit/task"
	"godwit/trace"
)

// defaultAPI is where the API listens unless told otherwise.
const defaultAPI = "127.0.0.1:7733"

func newUp() *cobra.Command {
	var (
		cfg      node.Config
		noMDNS   bool
		apiAddr  string
		logLevel string
		memory   string
		replay   string
		imposed  string
		rates    string
		readyFD  int
	)
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run a node in the foreground",
		Long: `Run a node in the foreground: it finds peers, lends this machine to their jobs
and takes in yours. End it with Ctrl-C.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg.MDNS = !noMDNS
			cfg.Version = programVersion()
			if cfg.RulesFile == "" {
				cfg.RulesFile = filepath.Join(cfg.DataDir, rulesName)
			}
			var err error
			if memory != "" {
				if cfg.Memory, err = task.ParseSize(memory); err != nil {
					return failure.Usage("sizes are written like 2GiB", "--memory: %w", err)
				}
			}
			if replay != "" {
				if cfg.Experiment.Replay, err = readReplay(replay); err != nil {
					return err
				}
			}
			if cfg.Experiment.Speeds, err = impose.ReadSpeeds(imposed); err != nil {
				return err
			}
			if rates != "" {
				if cfg.Experiment.Rates, err = impose.ReadRates(rates); err != nil {
					return err
				}
			}
			if cfg.Log, err = newLog(cmd.ErrOrStderr(), logLevel); err != nil {
				return err
			}
			if cfg.Sandbox, err = sandboxCommand(); err != nil {
				return err
			}
			return serve(cmd.Context(), cmd.OutOrStdout(), cfg, apiAddr, readyFD)
		},
	}
	f := cmd.Flags()
	f.StringVar(&cfg.DataDir, "data-dir", defaultDataDir(), "where identity, jobs and blocks are kept")
	f.StringVar(&cfg.RulesFile, "config", "", "file with the owner's rules (default DATA-DIR/"+rulesName+")")
	f.StringArrayVar(&cfg.Listen, "listen", nil, "multiaddr to listen on (repeatable; default every interface, any port)")
	f.StringArrayVar(&cfg.Bootstrap, "peer", nil, "multiaddr of a peer to stay connected to, with /p2p/ID (repeatable)")
	f.BoolVar(&noMDNS, "no-mdns", false, "do not look for peers on the local network")
	f.BoolVar(&cfg.NoRelay, "no-relay", false, "carry nothing for members that cannot reach each other directly")
	f.StringVar(&cfg.SwarmKey, "swarm-key", "", "file with a private swarm's key")
	f.StringArrayVar(&cfg.Overlays, "overlay", nil, "overlay to serve: a name, an ID or a ticket (repeatable; default those served before, else "+node.DefaultOverlay+")")
	f.StringVar(&apiAddr, "api", defaultAPI, `loopback address of the API; "" for the socket only`)
	f.IntVar(&cfg.Cores, "cores", 0, "most tasks to run at once, whatever the rules say (default every core)")
	f.StringVar(&memory, "memory", "", "most memory to lend to tasks, whatever the rules say, like 2GiB")
	f.StringVar(&logLevel, "log-level", "info", "debug, info, warn or error")
	f.IntVar(&readyFD, "ready-fd", 0, "file descriptor to write one JSON line to when ready (0: none)")
	f.StringVar(&cfg.Experiment.Runner, "runner", node.RunWasm, `what runs tasks: "wasm", or "sleep" to only wait their work time`)
	f.StringVar(&replay, "replay", "", "trace of one host, in times of the wall clock, that plays the owner in place of the sensors: for experiments")
	f.StringVar(&cfg.Site, "site", "", "group of members that this one belongs to, such as a cluster or an office, for policies of fair shares")
	f.StringVar(&imposed, "impose", "", `speeds of --runner sleep by the class of a job, such as 1=2,2=0.5,*=1: for experiments`)
	f.StringVar(&rates, "rates", "", "CSV file CLASS,PEER,RATE of execution rates, and CLASS,arrivals,RATE, in tasks a second, that are known when this node begins to lead: for experiments")
	if err := errors.Join(f.MarkHidden("impose"), f.MarkHidden("rates")); err != nil {
		panic(err) // they are there
	}
	return cmd
}

// readReplay reads the trace that plays the owner.
func readReplay(path string) (*trace.History, error) {
	t, err := traces.Read(path, trace.ReadOptions{})
	if err != nil {
		return nil, failure.Usage("", "--replay: %w", err)
	}
	if len(t.Hosts) != 1 {
		return nil, failure.Usage("write a file with the host to replay alone", "--replay: %s has %d hosts, not one", path, len(t.Hosts))
	}
	return t.Hosts[0].History, nil
}

// serve runs a node and its API until ctx ends.
func serve(ctx context.Context, out io.Writer, cfg node.Config, apiAddr string, readyFD int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n, err := node.New(ctx, cfg)
	if err != nil {
		return startFailure(err, cfg)
	}
	srv, err := api.NewServer(n, cfg.DataDir, apiAddr, cfg.Log)
	if err != nil {
		cancel()
		return errors.Join(&failure.Error{Code: failure.ExitFailed, Err: err,
			Hint: "another node may be using the address: choose one with --api, for example --api 127.0.0.1:0"}, n.Run(ctx))
	}
	ended := make(chan error, 2)
	go func() { ended <- n.Run(ctx); cancel() }()
	go func() { ended <- srv.Run(ctx); cancel() }()
	announce(out, testbed.Ready{PeerID: n.ID(), Addrs: n.Addrs(), API: srv.Addr()}, readyFD)
	return errors.Join(<-ended, <-ended)
}

func announce(out io.Writer, r testbed.Ready, fd int) {
	fmt.Fprintf(out, "ready %s %s api=%s\n", r.PeerID, strings.Join(r.Addrs, " "), r.API)
	if fd <= 0 {
		return
	}
	f := os.NewFile(uintptr(fd), "ready")
	if f == nil {
		return
	}
	defer f.Close()
	if err := json.NewEncoder(f).Encode(r); err != nil {
		slog.Warn("could not tell that the node is ready", "fd", fd, "err", err)
	}
}

func startFailure(err error, cfg node.Config) error {
	if inFile := (*task.Error)(nil); errors.As(err, &inFile) {
		return &failure.Error{Code: failure.ExitUsage, Err: err, Hint: inFile.Hint}
	}
	f := &failure.Error{Code: failure.ExitFailed, Err: err}
	if errors.Is(err, node.ErrInUse) {
		f.Hint = fmt.Sprintf("another node uses %s: stop it, or give this one its own --data-dir", cfg.DataDir)
	}
	return f
}

func newLog(w io.Writer, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, failure.Usage("levels are debug, info, warn and error", "--log-level: %w", err)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l})), nil
}

// sandboxCommand starts this same program as a sandbox.
func sandboxCommand() ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program, to start sandboxes: %w", err)
	}
	return []string{exe, sandboxVerb}, nil
}
