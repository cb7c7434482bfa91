package hostile

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"godwit/internal/pause"
)

const (
	// slowEach is how many connections each variation opens.
	slowEach = 8
	// slowHeld is how long a connection without a session may hold a descriptor, with a margin for a busy machine.
	slowHeld = 25 * time.Second
	// slowMost is how many descriptors all such connections may hold: the promised limit, and a margin.
	slowMost = 256 + 32
	// slowHosts is the number of addresses from which the connections come.
	slowHosts = 60
)

// A slow is a way to say little: what is sent at once, and what each second.
type slow struct {
	name  string
	plain bool // no TLS is begun
	head  string
	drip  string
}

var slows = []slow{
	{name: "nothing, not even a handshake", plain: true},
	{name: "nothing after the handshake"},
	{name: "half a header", head: "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nX: "},
	{name: "a header, letter by letter", head: "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", drip: "x"},
	{name: "a login without a body", head: "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"},
	{name: "a login, letter by letter", drip: " ",
		head: "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\n"},
	{name: "a chunked login without an end", drip: "1\r\n \r\n",
		head: "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"},
}

// playSlowBodies opens many slow connections to the dashboard's address on the local network.
func playSlowBodies(ctx context.Context, f *field, row *Row) error {
	n, err := f.alone(ctx)
	if err != nil {
		return err
	}
	defer n.Kill()
	if _, err := n.Feed(ctx, "four words drawn at random\n", "password"); err != nil {
		return err
	}
	if err := n.Stop(); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	at := l.Addr().String()
	l.Close()
	if err := n.Again(ctx, "--lan", at); err != nil {
		return err
	}
	base := descriptors(n.PID())
	open := f.openSlowly(ctx, at)
	defer open.close()
	most := descriptors(n.PID()) - base
	err = until(ctx, 30*time.Second, func() error { return ownerReads(ctx, at) })
	if e := pause.For(ctx, slowHeld); e != nil {
		return e
	}
	v := &Varied{Seed: f.Seed, Of: fmt.Sprintf("batches of %d slow connections without a session, from %d addresses",
		slowEach, slowHosts)}
	first := ""
	for _, b := range open.batches {
		v.Runs++
		if held := b.alive(); held > slowEach/2 {
			v.Succeeded++
			first = orFirst(first, "%d of %d connections that sent %s are still open after %v", held, slowEach, b.kind.name,
				slowHeld)
		}
	}
	row.judge(v, first)
	row.now("at most %d descriptors more, %d MiB of memory", most, peakOf(n.PID())>>20)
	if most > slowMost {
		row.broke("the connections held %d descriptors, at most %d", most, slowMost)
	}
	row.must("the owner's page, from another address", err)
	return nil
}

// descriptors counts the open files of a process.
func descriptors(pid int) int {
	list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return len(list)
}

// ownerReads reads the dashboard's page as its owner would, from an address of its own.
func ownerReads(ctx context.Context, at string) error {
	c, err := dialFrom(ctx, "127.0.0.2", at)
	if err != nil {
		return err
	}
	defer c.Close()
	t := tls.Client(c, &tls.Config{InsecureSkipVerify: true}) // its certificate is the node's own
	_ = t.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(t, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	b := make([]byte, 64)
	k, err := t.Read(b)
	if !strings.HasPrefix(string(b[:k]), "HTTP/1.1 200") {
		return fmt.Errorf("the page is %.64q: %w", b[:k], errors.Join(err, errNoPage))
	}
	return nil
}

var errNoPage = errors.New("no page")

func dialFrom(ctx context.Context, from, to string) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return d.DialContext(ctx, "tcp", to)
}

// slowConns are the connections of all variations.
type slowConns struct {
	batches []*slowBatch
	stop    context.CancelFunc
	all     sync.WaitGroup
}

// A slowBatch is the connections of one variation.
type slowBatch struct {
	kind slow

	mu    sync.Mutex
	conns map[net.Conn]bool // true while the server has not closed it
}

// alive counts the connections that the server has not closed.
func (b *slowBatch) alive() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, open := range b.conns {
		if open {
			n++
		}
	}
	return n
}

// openSlowly opens the connections of all variations. It returns once each has sent what it sends at once.
func (f *field) openSlowly(ctx context.Context, at string) *slowConns {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &slowConns{stop: stop}
	var opened sync.WaitGroup
	for range f.Times {
		b := &slowBatch{kind: slows[f.rng.IntN(len(slows))], conns: map[net.Conn]bool{}}
		s.batches = append(s.batches, b)
		for range slowEach {
			from := fmt.Sprintf("127.0.0.%d", 3+f.rng.IntN(slowHosts))
			opened.Add(1)
			s.all.Go(func() { b.hold(ctx, from, at, opened.Done) })
		}
	}
	opened.Wait()
	return s
}

// hold opens one connection and keeps it until the server closes it.
func (b *slowBatch) hold(ctx context.Context, from, at string, opened func()) {
	c, err := dialFrom(ctx, from, at)
	if err != nil {
		opened()
		return
	}
	defer c.Close()
	raw := c
	b.mu.Lock()
	b.conns[raw] = true
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.conns[raw] = ctx.Err() != nil
		b.mu.Unlock()
	}()
	if !b.kind.plain {
		t := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		if t.HandshakeContext(ctx) != nil {
			opened()
			return
		}
		_ = c.SetDeadline(time.Time{})
		c = t
	}
	_, err = c.Write([]byte(b.kind.head))
	opened()
	buf := make([]byte, 512)
	for err == nil && ctx.Err() == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		if _, err = c.Read(buf); errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
			if b.kind.drip != "" {
				_, err = c.Write([]byte(b.kind.drip))
			}
		}
	}
}

// close ends all connections.
func (s *slowConns) close() {
	s.stop()
	s.all.Wait()
}
