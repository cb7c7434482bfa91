package api

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"godwit/node"
)

// A Server answers the API of one node.
type Server struct {
	node     *node.Node
	overlays overlays // the node
	monitoring
	log   *slog.Logger
	token string
	unix  net.Listener
	tcp   net.Listener // nil where no address was given
	dir   string
}

const (
	// headerTimeout and idleTimeout keep half-open clients from holding
	// connections; a local client needs milliseconds.
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	// closeTimeout is how long requests under way may take at shutdown.
	closeTimeout = 2 * time.Second
	tokenBytes   = 32
)

// NewServer listens on the data directory's socket and, if addr is not empty,
// on that TCP address, which must be a loopback one. The token is kept in the
// data directory, readable by its owner only.
func NewServer(n *node.Node, dir, addr string, log *slog.Logger) (_ *Server, err error) {
	s := &Server{node: n, overlays: n, monitoring: newMonitoring(n), log: log, dir: dir}
	if s.token, err = loadToken(filepath.Join(dir, TokenName)); err != nil {
		return nil, err
	}
	if s.unix, err = listenUnix(filepath.Join(dir, SocketName)); err != nil {
		return nil, err
	}
	os.Remove(filepath.Join(dir, AddrName)) // a killed node's
	if addr == "" {
		return s, nil
	}
	if err := checkLoopback(addr); err != nil {
		return nil, errors.Join(err, s.unix.Close())
	}
	if s.tcp, err = net.Listen("tcp", addr); err != nil {
		return nil, errors.Join(fmt.Errorf("listening for the API: %w", err), s.unix.Close())
	}
	if err := os.WriteFile(filepath.Join(dir, AddrName), []byte(s.tcp.Addr().String()), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("noting the API's address: %w", err), s.unix.Close(), s.tcp.Close())
	}
	return s, nil
}

// Addr returns the TCP address, or the socket's path where there is none.
func (s *Server) Addr() string {
	if s.tcp == nil {
		return s.unix.Addr().String()
	}
	return s.tcp.Addr().String()
}

// Run serves until ctx ends, then lets requests under way finish for a moment.
func (s *Server) Run(ctx context.Context) error {
	local := s.serve(s.routes())
	remote := s.serve(s.authenticated(s.routes()))
	ended := make(chan error, 2)
	servers := []*http.Server{local}
	go func() { ended <- local.Serve(s.unix) }()
	if s.tcp != nil {
		servers = append(servers, remote)
		go func() { ended <- remote.Serve(s.tcp) }()
	}
	var err error
	waiting := len(servers)
	select {
	case <-ctx.Done():
	case err = <-ended:
		waiting--
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	for _, srv := range servers {
		if srv.Shutdown(closing) != nil {
			srv.Close()
		}
	}
	for range waiting {
		err = errors.Join(err, ignoreClosed(<-ended))
	}
	os.Remove(filepath.Join(s.dir, AddrName))
	return ignoreClosed(err)
}

func (s *Server) serve(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// authenticated lets only requests with the token pass.
func (s *Server) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(got), []byte(s.token)) != 1 {
			writeError(w, &Error{Message: "the API's token is missing or wrong", Kind: KindAuth, Status: http.StatusUnauthorized,
				Hint: "send the content of " + TokenName + " in the node's data directory as a bearer token"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loadToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if token := strings.TrimSpace(string(b)); err == nil && len(token) >= 2*tokenBytes {
		if err := os.Chmod(path, 0o600); err != nil {
			return "", fmt.Errorf("protecting the API's token: %w", err)
		}
		return token, nil
	}
	os.Remove(path) // with whatever mode it has
	raw := make([]byte, tokenBytes)
	rand.Read(raw)
	token := hex.EncodeToString(raw)
	if err := os.WriteFile(path, []byte(token), 0o600); err != nil {
		return "", fmt.Errorf("writing the API's token: %w", err)
	}
	return token, nil
}

// listenUnix replaces a socket left by a node that was killed. The store's
// lock has made sure that no other node uses this directory.
func listenUnix(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("removing an old API socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listening for the API on %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protecting the API's socket: %w", err), l.Close())
	}
	return l, nil
}

func checkLoopback(addr string) error {
	if err := CheckLoopback(addr); err != nil {
		return fmt.Errorf("the API's address: %w", err)
	}
	return nil
}

// CheckLoopback returns why a TCP address is not one that this machine alone reaches; nil if it is.
func CheckLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("reading the address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q is not on loopback: others would reach this node by it", addr)
}
