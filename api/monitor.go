package api

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"godwit/api/door"
	"godwit/api/metrics"
	"godwit/node"
)

// aliveTime is how long the loop may take to answer who asks after its health: it answers within
// milliseconds, and a commit to a slow disk takes a second.
const aliveTime = 5 * time.Second

// A Monitor answers what only looks: /metrics, /healthz and /readyz, on an address of its own, to whoever
// reaches it.
type Monitor struct {
	monitoring
	log *slog.Logger
	tcp net.Listener
}

// monitoring are the handlers of what only looks.
type monitoring struct {
	node *node.Node
	page http.Handler // of metrics
}

func newMonitoring(n *node.Node) monitoring { return monitoring{n, metrics.Handler(n)} }

// each calls handle for every route of a Monitor; they are routes of a Server as well.
func (m *monitoring) each(handle func(pattern string, h handler)) {
	handle("GET /metrics", m.metrics)
	handle("GET /healthz", m.healthz)
	handle("GET /readyz", m.readyz)
}

// NewMonitor listens on a loopback address, where no token is asked for.
func NewMonitor(n *node.Node, addr string, log *slog.Logger) (*Monitor, error) {
	if err := CheckLoopback(addr); err != nil {
		return nil, fmt.Errorf("the address for metrics: %w", err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for who asks for metrics: %w", err)
	}
	return &Monitor{monitoring: newMonitoring(n), log: log, tcp: l}, nil
}

// Addr returns where the monitor listens.
func (m *Monitor) Addr() string { return m.tcp.Addr().String() }

// Run serves until ctx ends, then lets requests under way finish for a moment.
func (m *Monitor) Run(ctx context.Context) error {
	mux := http.NewServeMux()
	m.each(func(pattern string, h handler) {
		mux.HandleFunc(pattern, answer(h, limitOf(pattern)))
	})
	srv := newHTTPServer(door.Bounded(localHost(mux)), m.log)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(door.Limit(m.tcp, door.MaxConns, door.MaxConns)) }()
	select {
	case err := <-ended:
		return ignoreClosed(err)
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if srv.Shutdown(closing) != nil {
		srv.Close()
	}
	return ignoreClosed(<-ended)
}

// localHost answers only those who asked for this machine by a name of loopback: a page in a browser whose
// own name was made to mean this machine did not (DNS rebinding).
func localHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this address answers to localhost alone", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (m *monitoring) metrics(w http.ResponseWriter, r *http.Request) error {
	m.page.ServeHTTP(w, r)
	return nil
}

func (m *monitoring) healthz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), aliveTime)
	defer cancel()
	return writeHealth(w, nil, m.node.Alive(ctx))
}

func (m *monitoring) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), aliveTime)
	defer cancel()
	why, err := m.node.NotReady(ctx)
	return writeHealth(w, why, err)
}

// writeHealth says ok, or what is wrong, a line each.
func writeHealth(w http.ResponseWriter, why []string, err error) error {
	if err != nil {
		why = []string{err.Error()}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if len(why) == 0 {
		_, err := fmt.Fprintln(w, "ok")
		return ignoreGone(err)
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	_, err = fmt.Fprintln(w, strings.Join(why, "\n"))
	return ignoreGone(err)
}
