package door

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// MaxConns is the largest number of connections at once to one listener, and MaxConnsEach to one listener from the
	// same address. A browser opens 6 at most.
	MaxConns, MaxConnsEach = 256, 16

	// bodyTime is the time limit of the whole body of a request without a key, and pageTime of the answer to it.
	bodyTime, pageTime = 10 * time.Second, 30 * time.Second
)

// Limit returns a listener with at most most open connections, and each from one address. A further connection replaces
// the oldest one that has sent no key yet, so that strangers cannot keep the owner out by holding connections open. It
// is closed at once if all have sent one.
func Limit(l net.Listener, most, each int) net.Listener {
	return &limited{Listener: l, most: most, each: each}
}

type limited struct {
	net.Listener
	most, each int

	mu   sync.Mutex
	open []*limitedConn // the oldest first
}

// A limitedConn is a connection that a limited listener counts.
type limitedConn struct {
	net.Conn
	of    *limited
	from  string // address without port
	known bool   // a request on it had a key; guarded by of.mu
}

// Accept returns the next connection for which there is room.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		in := &limitedConn{Conn: c, of: l, from: hostOf(c.RemoteAddr().String())}
		out, ok := l.add(in)
		if out != nil {
			out.Conn.Close()
		}
		if ok {
			return in, nil
		}
		c.Close()
	}
}

// add counts a connection, and returns the one that it replaces. It returns false if there is no room.
func (l *limited) add(in *limitedConn) (out *limitedConn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := 0
	for _, c := range l.open {
		if c.from == in.from {
			same++
		}
	}
	if crowded := same >= l.each; crowded || len(l.open) >= l.most {
		i := slices.IndexFunc(l.open, func(c *limitedConn) bool { return !c.known && (!crowded || c.from == in.from) })
		if i < 0 {
			return nil, false
		}
		out = l.open[i]
		l.open = slices.Delete(l.open, i, i+1)
	}
	l.open = append(l.open, in)
	return out, true
}

// Close makes room for another connection.
func (c *limitedConn) Close() error {
	c.of.mu.Lock()
	if i := slices.Index(c.of.open, c); i >= 0 {
		c.of.open = slices.Delete(c.of.open, i, i+1)
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}

type connKey struct{}

// ConnContext is for http.Server.ConnContext: it lets a Door find the connection of a request.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if over, ok := c.(*tls.Conn); ok {
		c = over.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// know marks the connection of a request that had a key.
func know(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*limitedConn); ok {
		c.of.mu.Lock()
		c.known = true
		c.of.mu.Unlock()
	}
}

// Bounded returns next with time limits for clients that need no key: for a request's body, and to take the answer.
func Bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, now := http.NewResponseController(w), time.Now()
		_ = to.SetWriteDeadline(now.Add(pageTime)) // a writer without deadlines, as in tests, has none
		if r.ContentLength != 0 {                  // without a body the deadline would end the request's context
			_ = to.SetReadDeadline(now.Add(bodyTime))
		}
		next.ServeHTTP(w, r)
	})
}
