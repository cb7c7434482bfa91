package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"godwit/api"
	"godwit/api/door"
	"godwit/lab/experiment"
)

// Names of files in the service's directory.
const (
	TokenName = "experiment.token"
	addrName  = "experiment.addr"
	runsName  = "runs" // directory for runs on nodes
)

// Service is an HTTP server for experiments on a loopback address.
type Service struct {
	dir     string
	manager *experiment.Manager
	server  *http.Server
	on      net.Listener
}

const (
	// headerTime, readTime and writeTime limit the parts of a request, idleTime an unused connection, and closeTime the
	// requests that are active at shutdown.
	headerTime = 5 * time.Second
	readTime   = 30 * time.Second
	writeTime  = time.Minute
	idleTime   = 2 * time.Minute
	closeTime  = 2 * time.Second
	maxHeader  = 64 << 10 // bytes
)

// Listen opens a loopback address such as 127.0.0.1:0, and writes the token and address files to dir. It creates dir if
// necessary, and fails if another service uses it.
func Listen(dir, addr string, log *slog.Logger) (*Service, error) {
	if err := api.CheckLoopback(addr); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the service's directory: %w", err)
	}
	if old, err := os.ReadFile(filepath.Join(dir, addrName)); err == nil {
		if c, err := net.DialTimeout("tcp", string(old), dialTime); err == nil {
			return nil, errors.Join(fmt.Errorf("a service with the directory %s already listens on %s", dir, old), c.Close())
		}
	}
	// A killed service leaves the data of its runs, and the new one uses the same names.
	if err := os.RemoveAll(filepath.Join(dir, runsName)); err != nil {
		return nil, fmt.Errorf("removing old runs: %w", err)
	}
	token, err := api.LoadToken(filepath.Join(dir, TokenName))
	if err != nil {
		return nil, err
	}
	on, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for experiments: %w", err)
	}
	s := &Service{dir: dir, manager: experiment.New(filepath.Join(dir, runsName)), on: on}
	if err := os.WriteFile(filepath.Join(dir, addrName), []byte(s.Addr()), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("noting the service's address: %w", err), on.Close())
	}
	s.server = &http.Server{Handler: Handler(s.manager, token), ReadHeaderTimeout: headerTime, ReadTimeout: readTime,
		WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ConnContext: door.ConnContext,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	return s, nil
}

// Addr returns the listener's address.
func (s *Service) Addr() string { return s.on.Addr().String() }

// Run serves requests until ctx ends. It returns after all runs have ended.
func (s *Service) Run(ctx context.Context) error {
	defer os.Remove(filepath.Join(s.dir, addrName))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	managed, served := make(chan error, 1), make(chan error, 1)
	go func() { managed <- s.manager.Run(ctx) }()
	go func() { served <- s.server.Serve(door.Limit(s.on, door.MaxConns, door.MaxConns)) }()
	var err error
	select {
	case <-ctx.Done():
		closing, stop := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer stop()
		if s.server.Shutdown(closing) != nil {
			s.server.Close()
		}
		err = <-served
	case err = <-served:
		cancel()
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, <-managed)
}
