package api

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/api/door"
	"godwit/node"
)

// Every request to a node whose loop never answers ends: with an answer that says so, or with the node's own state.
func TestEveryRequestEndsWithoutTheLoop(t *testing.T) {
	dir := t.TempDir()
	n, err := node.New(t.Context(), node.Config{DataDir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Cores: 1,
		Experiment: node.Experiment{Runner: node.RunSleep}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	run(t, func(ctx context.Context) error { // only at the end of the test
		<-ctx.Done()
		return n.Run(ctx)
	})
	s, err := NewServer(n, dir, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.limit = func(string) time.Duration { return 100 * time.Millisecond }
	run(t, s.Run)
	w := newWatcher(t, dir)
	w.http.Timeout = time.Minute
	refused := 0
	s.each(func(pattern string, _ handler) {
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.NewReplacer("{id}", "commons", "{peer}", "self", "{key}", "max_cores", "{task}", "0",
			"{name...}", "x", "{cid}", "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku").Replace(path)
		req, err := http.NewRequestWithContext(t.Context(), method, "http://node"+path, strings.NewReader(`{"for_s": 1, `+
			`"tasks": 1, "overlay": "x", "share": 1, "life_s": 60, "name": "x", "file": "module: a", "path": "/v1/home"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := w.http.Do(req)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			return
		}
		defer resp.Body.Close()
		if pattern == "GET /v1/events" { // it says every 15 seconds that it is there
			return
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		if resp.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(b), `"hint":"the node is busy`) {
			refused++
		}
	})
	if refused < 30 {
		t.Errorf("%d routes say that the node does not answer: this test looks at too few", refused)
	}
}

// TestLongRoutesExist keeps the list of routes that may take long free of others.
func TestLongRoutesExist(t *testing.T) {
	routes := map[string]bool{}
	new(Server).each(func(pattern string, _ handler) { routes[pattern] = true })
	for pattern := range longRoutes {
		if !routes[pattern] {
			t.Errorf("there is no route %s", pattern)
		}
	}
}

// A pipes is a listener whose connections are in memory, so that deadlines use the bubble's clock.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// dial returns the client's end of a new connection.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// onPipes serves a handler on pipes in a bubble.
func onPipes(t *testing.T, h http.Handler) *pipes {
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	srv := newHTTPServer(h, slog.New(slog.DiscardHandler))
	go srv.Serve(p)
	t.Cleanup(func() { srv.Close() })
	return p
}

// lasts sends text on a new connection, and returns the time until the server closes it.
func (p *pipes) lasts(t *testing.T, text string) time.Duration {
	t.Helper()
	c := p.dial()
	defer c.Close()
	begun := time.Now()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Fatal(err)
	}
	return time.Since(begun)
}

// A client without a key holds a connection for seconds, whatever it does not send or read.
func TestClientWithoutKeyIsDroppedSoon(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		most time.Duration
	}{
		"half a header":         {"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: ", headerTimeout},
		"a login without body":  {"POST /v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{", 10 * time.Second},
		"a change without body": {"POST /v1/pause HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{", 10 * time.Second},
		"a page without end":    {"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n", 10 * time.Second},
		"nothing more":          {"GET /v1/home HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", idleTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Server{keys: door.NewKeys("token", nil), limit: limitOf}
				p := onPipes(t, s.guarded(door.Loopback, false))
				if took := p.lasts(t, c.text); took > c.most+time.Second {
					t.Errorf("the connection lasts %v, want at most %v", took, c.most)
				}
			})
		})
	}
}

// Who does not read a page that needs no key is dropped.
func TestPageIsWrittenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{keys: door.NewKeys("token", nil), limit: limitOf}
		c := onPipes(t, s.guarded(door.Loopback, false)).dial()
		defer c.Close()
		begun := time.Now()
		fmt.Fprint(c, "GET /ui/vendor/preact-htm.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		time.Sleep(time.Minute)
		if _, err := io.Copy(io.Discard, c); err != nil || time.Since(begun) > time.Minute {
			t.Errorf("the page was still written after %v, %v", time.Since(begun), err)
		}
	})
}

// A handler that makes no progress ends with its limit, and one that does may take hours.
func TestAnswerEndsWithoutProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mux := http.NewServeMux()
		mux.Handle("/stuck", answer(func(_ http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return fmt.Errorf("asking: %w", r.Context().Err())
		}, time.Minute))
		mux.Handle("/steady", answer(func(w http.ResponseWriter, r *http.Request) error {
			for range 100 {
				time.Sleep(50 * time.Second)
				if r.Context().Err() != nil {
					return r.Context().Err()
				}
				io.WriteString(w, "more\n")
				http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
			return nil
		}, time.Minute))
		mux.Handle("/takes", answer(func(w http.ResponseWriter, r *http.Request) error {
			n, err := io.Copy(io.Discard, r.Body)
			return writeJSON(w, n, err)
		}, time.Minute))
		p := onPipes(t, mux)
		ask := func(path, body string) (*http.Response, *bufio.Reader, net.Conn) {
			c := p.dial()
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: node\r\nContent-Length: 10\r\n\r\n%s", path, body)
			in := bufio.NewReader(c)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			return resp, in, c
		}
		begun := time.Now()
		resp, _, c := ask("/stuck", "0123456789")
		b, _ := io.ReadAll(resp.Body)
		if took := time.Since(begun); resp.StatusCode != 503 || took != time.Minute || !strings.Contains(string(b), "hint") {
			t.Errorf("a handler without progress: %d after %v: %s", resp.StatusCode, took, b)
		}
		c.Close()
		begun = time.Now()
		resp, _, c = ask("/takes", "01234")
		b, _ = io.ReadAll(resp.Body)
		if took := time.Since(begun); resp.StatusCode != 408 || took != bodyTime || !strings.Contains(string(b), "hint") {
			t.Errorf("half a body: %d after %v: %s", resp.StatusCode, took, b)
		}
		c.Close()
		begun = time.Now()
		resp, _, c = ask("/steady", "0123456789")
		b, err := io.ReadAll(resp.Body)
		if took := time.Since(begun); err != nil || len(b) != 500 || took != 100*50*time.Second+time.Minute {
			t.Errorf("a stream of 100 parts has %d bytes after %v, %v", len(b), took, err)
		}
		c.Close()
	})
}

// A client that reads nothing is dropped in the middle of an answer, however long that is.
func TestAnswerIsTakenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		p := onPipes(t, answer(func(w http.ResponseWriter, r *http.Request) error {
			_, err := w.Write(make([]byte, 1<<20))
			failed <- err
			return nil
		}, time.Minute))
		c := p.dial()
		defer c.Close()
		begun := time.Now()
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: node\r\n\r\n")
		if err := <-failed; err == nil || time.Since(begun) != writeTime {
			t.Errorf("an answer that is not read: %v after %v, want an error after %v", err, time.Since(begun), writeTime)
		}
	})
}

// Listeners replace the oldest connection without a key once there are too many: of one address with --lan, of all on
// loopback.
func TestListenersLimitConnections(t *testing.T) {
	n, dir := startNode(t)
	s, err := NewServer(n, dir, "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	setTestPassword(t, dir, "correct horse battery")
	if _, err := s.ServeLAN("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	run(t, s.Run)
	insecure := &tls.Config{InsecureSkipVerify: true} // nothing is secret here
	for name, l := range map[string]struct {
		dial func() (net.Conn, error)
		most int
	}{
		"loopback": {func() (net.Conn, error) { return net.Dial("tcp", s.Addr()) }, door.MaxConns},
		"lan":      {func() (net.Conn, error) { return tls.Dial("tcp", s.LANAddr(), insecure) }, door.MaxConnsEach},
	} {
		var first net.Conn
		var in *bufio.Reader
		for i := range l.most + 1 {
			c, err := l.dial()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(time.Minute))
			fmt.Fprint(c, "GET /ui/icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
			r := bufio.NewReader(c)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatalf("%s: connection %d: %v", name, i, err)
			}
			io.Copy(io.Discard, resp.Body)
			if i == 0 {
				first, in = c, r
			}
		}
		if _, err := in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the first of %d connections of %v is still open: %v", name, l.most+1, first.LocalAddr(), err)
		}
	}
}
