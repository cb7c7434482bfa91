package p2p

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/internal/pause"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A logBook is a log that a test reads while it is written.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logBook) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// An owner is told why a peer that it named is not reached, once, in the log and when asked.
func TestNamedNotReached(t *testing.T) {
	private := testConfig('p')
	private.SwarmKey = []byte(strings.Repeat("k", SwarmKeyBytes))
	locked, other := serve(t, private), serve(t, testConfig('o'))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().(*net.TCPAddr).Port
	l.Close()
	nobody, err := PeerIDOf(testConfig('n').Key)
	if err != nil {
		t.Fatal(err)
	}
	otherAt, _, _ := strings.Cut(other.Addrs()[0], "/p2p/")
	closedAt := "/ip4/127.0.0.1/tcp/" + strconv.Itoa(closed)
	for _, c := range []struct{ name, addr, why string }{
		{"nobody listens", closedAt + "/p2p/" + string(nobody), "no program listens there"},
		{"another answers", otherAt + "/p2p/" + string(nobody), "another node answers there: " + string(other.ID())},
		{"the swarm's key is missing", locked.Addrs()[0], "--swarm-key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var log logBook
			cfg := testConfig('a')
			cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
			h := serve(t, cfg)
			if _, err := h.Name(c.addr); err != nil {
				t.Fatal(err)
			}
			for h.Named()[0].Tries < tellAfter || !log.has("not reached") {
				if err := pause.For(t.Context(), 10*time.Millisecond); err != nil {
					t.Fatal(err)
				}
			}
			x := h.Named()[0]
			if !strings.Contains(x.Why, c.why) || x.Connected || x.Since.IsZero() {
				t.Errorf("the owner hears: %+v", x)
			}
			if !h.Unname(x.Peer) || h.Unname(x.Peer) || len(h.Named()) > 0 {
				t.Error("a peer cannot be taken back once")
			}
		})
	}
}

// A node stays connected to a peer that is named while it runs; what is no address is refused.
func TestNameRunning(t *testing.T) {
	a, b := serve(t, testConfig('a')), serve(t, testConfig('b'))
	for _, bad := range []string{"", "/ip4/127.0.0.1/tcp/1", "/p2p/" + string(b.ID()), "nonsense", a.Addrs()[0]} {
		if _, err := a.Name(bad); err == nil {
			t.Errorf("%q is taken for the address of a peer", bad)
		}
	}
	if p, err := a.Name(b.Addrs()[0]); err != nil || p != b.ID() {
		t.Fatal(p, err)
	}
	for len(a.Named()) != 1 || !a.Named()[0].Connected {
		if err := pause.For(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

// The owner hears of each reason once, and of the end of it.
func TestNamedTells(t *testing.T) {
	at := testNow
	n := newNamed([]peer.AddrInfo{{ID: "x"}}, at)
	refused, silent := errors.New("dial: connection refused"), errors.New("i/o timeout")
	for i, c := range []struct {
		err  error
		tell bool
	}{
		{nil, false},
		{refused, false}, {refused, false}, {refused, true}, {refused, false}, {silent, true}, {silent, false},
		{nil, true}, {refused, false}, {nil, false},
	} {
		if _, tell := n.tried("x", c.err, at); tell != c.tell {
			t.Errorf("try %d, %v: told %v", i, c.err, tell)
		}
	}
	if _, tell := n.tried("y", refused, at); tell {
		t.Error("told of a peer that nobody named")
	}
}
