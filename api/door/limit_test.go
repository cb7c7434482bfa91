package door

import (
	"net"
	"testing"
)

// A stub is a connection from an address.
type stub struct {
	net.Conn
	from   string
	closed bool
}

func (s *stub) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(s.from), Port: 1} }
func (s *stub) Close() error         { s.closed = true; return nil }

// A queue is a listener of connections that have come.
type queue struct {
	net.Listener
	conns []*stub
}

func (q *queue) Accept() (net.Conn, error) {
	if len(q.conns) == 0 {
		return nil, net.ErrClosed
	}
	c := q.conns[0]
	q.conns = q.conns[1:]
	return c, nil
}

// A flood of connections from some addresses closes none that has sent a key, and leaves room for others.
func TestLimitKeepsConnectionsWithKey(t *testing.T) {
	q := &queue{}
	come := func(from string, n int) (out []*stub) {
		for range n {
			c := &stub{from: from}
			out, q.conns = append(out, c), append(q.conns, c)
		}
		return out
	}
	l := Limit(q, 8, 3).(*limited)
	accept := func() (out []*limitedConn) {
		for {
			c, err := l.Accept()
			if err != nil {
				return out
			}
			out = append(out, c.(*limitedConn))
		}
	}
	open := func(all []*stub) (n int) {
		for _, c := range all {
			if !c.closed {
				n++
			}
		}
		return n
	}
	owner := come("192.0.2.1", 1)
	accept()[0].known = true
	flood := come("192.0.2.2", 100)
	accept()
	if got := open(flood); got != 3 {
		t.Errorf("one address has %d connections, want 3", got)
	}
	for _, from := range []string{"192.0.2.3", "192.0.2.4", "192.0.2.5", "2001:db8::1"} {
		come(from, 100)
	}
	accept()
	if len(l.open) != 8 || open(owner) != 1 {
		t.Errorf("%d connections are open, want 8; the owner's: %d", len(l.open), open(owner))
	}
	late := come("192.0.2.9", 1)
	accept()
	if open(late) != 1 {
		t.Error("a new address is kept out by connections without a key")
	}
	for _, c := range l.open {
		c.known = true
	}
	more := come("192.0.2.10", 1)
	if accept(); open(more) != 0 {
		t.Error("there is room beyond the limit")
	}
	l.open[0].Close()
	again := come("192.0.2.10", 1)
	if accept(); open(again) != 1 || len(l.open) != 8 {
		t.Errorf("a closed connection makes no room: %d are open", len(l.open))
	}
}
