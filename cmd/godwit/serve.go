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
	"godwit/internal/failure"
	"godwit/lab/testbed"
	"godwit/node"
	"godwit/task"
)

const (
	// maxStarts bounds how often in a row a node is started that panics soon, within
	// soonAfter: then it is what is kept that it cannot go on from.
	maxStarts = 5
	soonAfter = time.Minute
)

// serve runs a node and its API until ctx ends. A node in which a machine panicked is made
// anew, from what is durable.
func serve(ctx context.Context, out io.Writer, cfg node.Config, apiAddr string, readyFD int) error {
	for starts := 1; ; starts++ {
		begun := time.Now()
		addr, err := serveOnce(ctx, out, cfg, apiAddr, readyFD)
		if time.Since(begun) > soonAfter {
			starts = 0
		}
		if !errors.Is(err, node.ErrPanic) || ctx.Err() != nil || starts >= maxStarts {
			return err
		}
		cfg.Log.Error("the node is started anew", "because", err)
		apiAddr, readyFD = addr, 0 // it was told who waits for it
	}
}

// serveOnce runs a node and its API until ctx ends, or the node does. It returns where the
// API was.
func serveOnce(ctx context.Context, out io.Writer, cfg node.Config, apiAddr string, readyFD int) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n, err := node.New(ctx, cfg)
	if err != nil {
		return apiAddr, startFailure(err, cfg)
	}
	srv, err := api.NewServer(n, cfg.DataDir, apiAddr, cfg.Log)
	if err != nil {
		cancel()
		return apiAddr, errors.Join(&failure.Error{Code: failure.ExitFailed, Err: err,
			Hint: "another node may be using the address: choose one with --api, for example --api 127.0.0.1:0"}, n.Run(ctx))
	}
	ended := make(chan error, 2)
	go func() { ended <- n.Run(ctx); cancel() }()
	go func() { ended <- srv.Run(ctx); cancel() }()
	announce(out, testbed.Ready{PeerID: n.ID(), Addrs: n.Addrs(), API: srv.Addr()}, readyFD)
	if apiAddr != "" {
		apiAddr = srv.Addr() // the same again
	}
	return apiAddr, errors.Join(<-ended, <-ended)
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
