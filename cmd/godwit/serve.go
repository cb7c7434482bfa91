package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"godwit/api"
	"godwit/api/door"
	"godwit/internal/failure"
	"godwit/internal/logging"
	"godwit/lab/screen"
	"godwit/lab/testbed"
	"godwit/node"
	"godwit/owner"
	"godwit/sandbox"
)

const (
	// maxStarts bounds how often in a row a node is started that panics soon, within
	// soonAfter: then it is what is kept that it cannot go on from.
	maxStarts = 5
	soonAfter = time.Minute
)

// doors are where a node answers on this machine.
type doors struct {
	api     string // loopback address; "" for the socket alone
	lan     string // address of the dashboard for other machines; "" for none
	metrics string // loopback address of who only looks; "" for none
	readyFD int    // file descriptor for who waits until the node is ready; 0 for none
}

// check refuses an address that others would reach.
func (d *doors) check() error {
	if d.metrics == "" {
		return nil
	}
	if err := api.CheckLoopback(d.metrics); err != nil {
		return failure.Usage("for example --metrics 127.0.0.1:9733", "--metrics: %w", err)
	}
	return nil
}

// serve runs a node and its API until ctx ends. A node in which a machine panicked, or that found its
// store damaged, is made anew, from what is durable and readable.
func serve(ctx context.Context, out io.Writer, cfg node.Config, at doors) error {
	var because error // damage of the store, which the next start repairs
	for starts := 1; ; starts++ {
		begun := time.Now()
		next, err := serveOnce(ctx, out, cfg, at)
		if because != nil && errors.Is(err, node.ErrInUse) { // the damaged store did not close
			return startFailure(because, cfg)
		}
		if time.Since(begun) > soonAfter {
			starts = 0
		}
		damaged := errors.Is(err, node.ErrStoreDamaged)
		if !damaged && !errors.Is(err, node.ErrPanic) || ctx.Err() != nil || starts >= maxStarts {
			return err
		}
		if damaged {
			because = err
		}
		cfg.Log.Error("the node is started anew", "because", err)
		at = next
	}
}

// serveOnce runs a node and its API until ctx ends, or the node does. It returns where they
// were.
func serveOnce(ctx context.Context, out io.Writer, cfg node.Config, at doors) (doors, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := firstStart(cfg.DataDir)
	if err := sandbox.Protect(); err != nil {
		cfg.Log.Warn("what the node has is not kept from tasks in full", "err", err)
	}
	n, err := node.New(ctx, cfg)
	if err != nil {
		return at, startFailure(err, cfg)
	}
	log := logging.In(cfg.Log, logging.API)
	srv, err := newServer(n, cfg.DataDir, at, log)
	if err != nil {
		cancel()
		return at, errors.Join(err, n.Run(ctx))
	}
	runs := []func(context.Context) error{n.Run, srv.Run}
	if at.metrics != "" {
		m, err := api.NewMonitor(n, at.metrics, log)
		if err != nil {
			cancel()
			return at, errors.Join(addressFailure(err, "--metrics"), n.Run(ctx), srv.Run(ctx))
		}
		at.metrics = m.Addr() // the same again
		log.Info("metrics are answered without a token", "at", "http://"+m.Addr()+"/metrics")
		runs = append(runs, m.Run)
	}
	ended := make(chan error, len(runs))
	for _, run := range runs {
		go func() { ended <- run(ctx); cancel() }()
	}
	if rules, err := owner.Load(cfg.RulesFile); err == nil && first && screen.IsTerminal(out) {
		fmt.Fprint(out, welcome(cfg.Overlays, &rules, node.Machine()))
	}
	announce(out, testbed.Ready{PeerID: n.ID(), Addrs: n.Addrs(), API: srv.Addr()}, at.readyFD)
	at.readyFD = 0 // whoever waits was told, and is told once
	if at.api != "" {
		at.api = srv.Addr() // the same again
	}
	for range runs {
		err = errors.Join(err, <-ended)
	}
	return at, err
}

// newServer listens for the API of a node.
func newServer(n *node.Node, dir string, at doors, log *slog.Logger) (*api.Server, error) {
	srv, err := api.NewServer(n, dir, at.api, log)
	if err != nil {
		return nil, addressFailure(err, "--api")
	}
	if at.lan == "" {
		return srv, nil
	}
	fingerprint, err := srv.ServeLAN(at.lan)
	switch {
	case err == nil:
		log.Info("the dashboard is served to the network: compare the certificate's fingerprint in the browser",
			"url", "https://"+srv.LANAddr(), "sha256", fingerprint)
		return srv, nil
	case errors.Is(err, door.ErrNoPassword):
		err = &failure.Error{Code: failure.ExitFailed, Err: err, Hint: "set one: `godwit password < FILE`"}
	default:
		err = addressFailure(err, "--lan")
	}
	return nil, errors.Join(err, srv.Close())
}

// addressFailure is why nothing can listen at the address of a flag.
func addressFailure(err error, flag string) error {
	return &failure.Error{Code: failure.ExitFailed, Err: err,
		Hint: fmt.Sprintf("another node may be using the address: choose one with %s, for example %s 127.0.0.1:0", flag,
			flag)}
}

func announce(out io.Writer, r testbed.Ready, fd int) {
	if screen.IsTerminal(out) {
		fmt.Fprint(out, readyText(r, screen.Painter(screen.Coloured(out))))
	} else {
		fmt.Fprintf(out, "ready %s %s api=%s\n", r.PeerID, strings.Join(r.Addrs, " "), r.API)
	}
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

func newLog(w io.Writer, format, levels string) (*slog.Logger, error) {
	l, err := logging.ParseLevels(levels)
	if err != nil {
		return nil, failure.Usage("write a level such as info, or info,p2p=debug", "--log-level: %w", err)
	}
	log, err := logging.New(w, format, l)
	if err != nil {
		return nil, failure.Usage("for example --log-format json", "--log-format: %w", err)
	}
	return log, nil
}

// sandboxCommand starts this same program as a sandbox.
func sandboxCommand() ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program, to start sandboxes: %w", err)
	}
	return []string{exe, sandboxVerb}, nil
}

// checkModule validates a module in a process of its own, since it may come from a stranger. The error is a
// *sandbox.ModuleError if the module cannot run.
func checkModule(module []byte) error {
	command, err := sandboxCommand()
	if err != nil {
		return err
	}
	_, err = sandbox.CheckIn(context.Background(), command, module, false)
	return err
}

// sandboxVerb is the hidden verb behind every running task. It is answered
// before the command tree is built: see main.
const sandboxVerb = "sandbox"
