package api

import (
	"context"
	"crypto/rand"
	"crypto/tls"
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

	"godwit/api/door"
	"godwit/api/stream"
	"godwit/node"
)

// A Server answers the API of one node.
type Server struct {
	node     *node.Node
	overlays overlays // the node
	monitoring
	log      *slog.Logger
	token    string
	keys     *door.Keys
	live     *stream.Hub
	traffic  traffic
	reliable reliability
	stopping context.Context // ends with the server, and streams with it
	stop     context.CancelFunc
	limit    func(pattern string) time.Duration // of a request without progress: limitOf
	unix     net.Listener
	tcp      net.Listener // nil where no address was given
	lan      net.Listener // of ServeLAN; nil without
	dir      string
}

const (
	// headerTimeout and idleTimeout keep half-open clients from holding
	// connections; a local client needs milliseconds.
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	// closeTimeout is how long requests under way may take at shutdown.
	closeTimeout = 2 * time.Second
	// maxHeader bounds a request's header in bytes, and maxStreams the requests at once on a connection of HTTP/2.
	maxHeader  = 64 << 10
	maxStreams = 64
	tokenBytes = 32
)

// NewServer listens on the data directory's socket and, if addr is not empty,
// on that TCP address, which must be a loopback one. The token is kept in the
// data directory, readable by its owner only.
func NewServer(n *node.Node, dir, addr string, log *slog.Logger) (_ *Server, err error) {
	s := &Server{node: n, overlays: n, monitoring: newMonitoring(n), log: log, dir: dir, limit: limitOf}
	if s.token, err = LoadToken(filepath.Join(dir, TokenName)); err != nil {
		return nil, err
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.keys = door.NewKeys(s.token, &door.Password{File: filepath.Join(dir, PasswordName)})
	s.live = stream.NewHub(uint64(time.Now().UnixMilli()), pages{s}.collect)
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
	ended := make(chan error, 3)
	var servers []*http.Server
	serve := func(h http.Handler, on net.Listener) {
		srv := newHTTPServer(h, s.log)
		servers = append(servers, srv)
		go func() { ended <- srv.Serve(on) }()
	}
	serve(s.routes(), s.unix)
	if s.tcp != nil { // all clients have the same address
		serve(s.guarded(door.Loopback, false), door.Limit(s.tcp, door.MaxConns, door.MaxConns))
	}
	if s.lan != nil {
		host, _ := os.Hostname() // without one it is called by its address
		serve(s.guarded(door.Addressed(host, host+".local"), true), s.lan)
	}
	var err error
	waiting := len(servers)
	select {
	case <-ctx.Done():
	case err = <-ended:
		waiting--
	}
	s.stop()
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

// newHTTPServer returns a server of a listener. It bounds the size of headers and the time in which they arrive.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ConnContext:       door.ConnContext,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// guarded is the API and the pages behind a door, for hosts that are named so.
func (s *Server) guarded(named func(host string) bool, secure bool) http.Handler {
	d := door.Door{Keys: s.keys, Secure: secure, Named: named, Open: opened, Refuse: refuse}
	return d.Guard(sessions{s}.withPages())
}

// refuse answers what a door does not let pass.
func refuse(w http.ResponseWriter, r door.Refusal) {
	writeError(w, &Error{Message: r.Message, Hint: r.Hint, Kind: KindAuth, Status: r.Status, Password: r.Password})
}

// ServeLAN has Run serve another address, which may be of the local network, over TLS with the node's own
// certificate. It returns the certificate's fingerprint, for people to compare. It fails where no password was
// set: nobody could come in. It is called before Run, at most once.
func (s *Server) ServeLAN(addr string) (fingerprint string, err error) {
	if p := (&door.Password{File: filepath.Join(s.dir, PasswordName)}); !p.Set() {
		return "", fmt.Errorf("serving %s: %w", addr, door.ErrNoPassword)
	}
	host, _ := os.Hostname()
	cert, err := door.Certificate(filepath.Join(s.dir, CertName), []string{"localhost", host, host + ".local"},
		ownAddresses(), time.Now())
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listening for the dashboard: %w", err)
	}
	s.lan = tls.NewListener(door.Limit(l, door.MaxConns, door.MaxConnsEach), &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"}})
	return door.Fingerprint(cert), nil
}

// Close ends a server that is not Run.
func (s *Server) Close() error {
	err := s.unix.Close()
	for _, l := range []net.Listener{s.tcp, s.lan} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return errors.Join(err, ignoreMissing(os.Remove(filepath.Join(s.dir, AddrName))))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// LANAddr returns the address of ServeLAN, "" without.
func (s *Server) LANAddr() string {
	if s.lan == nil {
		return ""
	}
	return s.lan.Addr().String()
}

// ownAddresses are those of this machine.
func ownAddresses() (out []net.IP) {
	all, _ := net.InterfaceAddrs() // without them the certificate is of names alone
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			out = append(out, n.IP)
		}
	}
	return out
}

// isToken reports whether a text has the form of a token. A damaged token is replaced, because
// nothing else depends on it: clients read the file.
func isToken(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == tokenBytes && text == strings.ToLower(text)
}

// LoadToken returns the token in the file, or writes a new one if the file has none or is damaged.
func LoadToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if token := strings.TrimSpace(string(b)); err == nil && isToken(token) {
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
