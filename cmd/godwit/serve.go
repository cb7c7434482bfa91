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
	"godwit/lab/testbed"
	"godwit/node"
	"godwit/sandbox"
	"godwit/task"
)

const (
	// maxStarts bounds how often in a row a node is started that panics soon, within
	// soonAfter: then it is what is kept that it cannot go on from.
	maxStarts = 5
	soonAfter = time.Minute
)

// addresses are where a node's API is served beside its socket; "" for nowhere.
type addresses struct{ api, lan string }

// serve runs a node and its API until ctx ends. A node in which a machine panicked is made
// anew, from what is durable.
func serve(ctx context.Context, out io.Writer, cfg node.Config, at addresses, readyFD int) error {
	for starts := 1; ; starts++ {
		begun := time.Now()
		next, err := serveOnce(ctx, out, cfg, at, readyFD)
		if time.Since(begun) > soonAfter {
			starts = 0
		}
		if !errors.Is(err, node.ErrPanic) || ctx.Err() != nil || starts >= maxStarts {
			return err
		}
		cfg.Log.Error("the node is started anew", "because", err)
		at, readyFD = next, 0 // it was told who waits for it
	}
}

// serveOnce runs a node and its API until ctx ends, or the node does. It returns where the
// API was.
func serveOnce(ctx context.Context, out io.Writer, cfg node.Config, at addresses, readyFD int) (addresses, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := sandbox.Protect(); err != nil {
		cfg.Log.Warn("what the node has is not kept from tasks in full", "err", err)
	}
	n, err := node.New(ctx, cfg)
	if err != nil {
		return at, startFailure(err, cfg)
	}
	srv, err := newServer(n, cfg, at)
	if err != nil {
		cancel()
		return at, errors.Join(err, n.Run(ctx))
	}
	ended := make(chan error, 2)
	go func() { ended <- n.Run(ctx); cancel() }()
	go func() { ended <- srv.Run(ctx); cancel() }()
	announce(out, testbed.Ready{PeerID: n.ID(), Addrs: n.Addrs(), API: srv.Addr()}, readyFD)
	if at.api != "" {
		at.api = srv.Addr() // the same again
	}
	return at, errors.Join(<-ended, <-ended)
}

// newServer listens for the API of a node.
func newServer(n *node.Node, cfg node.Config, at addresses) (*api.Server, error) {
	srv, err := api.NewServer(n, cfg.DataDir, at.api, cfg.Log)
	if err != nil {
		return nil, &failure.Error{Code: failure.ExitFailed, Err: err,
			Hint: "another node may be using the address: choose one with --api, for example --api 127.0.0.1:0"}
	}
	if at.lan == "" {
		return srv, nil
	}
	fingerprint, err := srv.ServeLAN(at.lan)
	if err == nil {
		cfg.Log.Info("the dashboard is served to the network: compare the certificate's fingerprint in the browser",
			"url", "https://"+srv.LANAddr(), "sha256", fingerprint)
		return srv, nil
	}
	hint := "another program may be using the address: choose one with --lan"
	if errors.Is(err, door.ErrNoPassword) {
		hint = "set one: `godwit password < FILE`"
	}
	return nil, errors.Join(&failure.Error{Code: failure.ExitFailed, Err: err, Hint: hint}, srv.Close())
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

// sandboxVerb is the hidden verb behind every running task. It is answered
// before the command tree is built: see main.
const sandboxVerb = "sandbox"
