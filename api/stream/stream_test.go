package stream

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A source says what it is given, while somebody listens.
type source struct {
	say   chan [2]string
	began int
}

func (s *source) collect(ctx context.Context, say func(string, []byte)) {
	s.began++
	for {
		select {
		case <-ctx.Done():
			return
		case x := <-s.say:
			say(x[0], []byte(x[1]))
		}
	}
}

func topics(frames []Frame) string {
	var out []string
	for _, f := range frames {
		out = append(out, f.Topic+"="+string(f.Data))
	}
	return strings.Join(out, " ")
}

// Nothing is made while nobody listens; who comes back hears what it missed, or that it missed too much.
func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{say: make(chan [2]string)}
		h := NewHub(1000, s.collect)
		synctest.Wait()
		if s.began != 0 {
			t.Error("nobody listens, and something is made")
		}
		l, err := h.Listen(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := topics(l.Next(t.Context(), time.Second)); got != "reset={}" {
			t.Errorf("at first: %s", got)
		}
		s.say <- [2]string{"home", "1"}
		s.say <- [2]string{"home", "2"}
		s.say <- [2]string{"jobs", "x"}
		synctest.Wait()
		begun := time.Now()
		frames := l.Next(t.Context(), time.Second)
		if got := topics(frames); got != "home=2 jobs=x" || time.Since(begun) < Gap {
			t.Errorf("next, after %v: %s", time.Since(begun), got)
		}
		s.say <- [2]string{"home", "2"} // the same
		if got := l.Next(t.Context(), time.Second); len(got) != 0 {
			t.Errorf("of nothing new: %s", topics(got))
		}
		last := frames[len(frames)-1].Number
		if last <= 1000 {
			t.Errorf("numbers begin at %d", last)
		}
		back, err := h.Listen(last)
		if err != nil {
			t.Fatal(err)
		}
		s.say <- [2]string{"jobs", "y"}
		synctest.Wait()
		if got := topics(back.Next(t.Context(), time.Second)); got != "jobs=y" {
			t.Errorf("back again: %s", got)
		}
		older, err := h.Listen(last - 100)
		if err != nil {
			t.Fatal(err)
		}
		if got := topics(older.Next(t.Context(), time.Second)); got != "reset={} home=2 jobs=y" {
			t.Errorf("after too long: %s", got)
		}
		for range 2 * maxFrames {
			s.say <- [2]string{"jobs", fmt.Sprint(time.Now())}
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if got := l.Next(t.Context(), time.Second); len(got) != 3 || got[0].Topic != Reset || len(h.ring) > maxFrames {
			t.Errorf("a slow one hears %s, of %d kept", topics(got), len(h.ring))
		}
		for _, x := range []*Listener{l, back, older, older} {
			x.Close()
		}
		synctest.Wait()
		if h.stop != nil || s.began != 1 {
			t.Errorf("nobody listens: still made %v, begun %d times", h.stop != nil, s.began)
		}
	})
}

func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(1, func(ctx context.Context, _ func(string, []byte)) { <-ctx.Done() })
		var all []*Listener
		for range MaxListeners {
			l, err := h.Listen(0)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, l)
		}
		if _, err := h.Listen(0); err != ErrFull {
			t.Errorf("one too many: %v", err)
		}
		for _, l := range all {
			l.Close()
		}
		if err := h.Serve(httptest.NewRecorder(), gone(t)); err != nil {
			t.Errorf("after they have gone: %v", err)
		}
	})
}

// gone is a request of a client that went away.
func gone(t *testing.T) *http.Request {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return httptest.NewRequest("GET", "/", nil).WithContext(ctx)
}

// A browser reads the stream, and comes back with the last number.
func TestServe(t *testing.T) {
	s := &source{say: make(chan [2]string)}
	h := NewHub(7, s.collect)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(w, r); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}))
	defer srv.Close()
	// read says something once so many lines came: what is said earlier may count as before the reset.
	read := func(last string, before, lines int) (out []string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Last-Event-ID", last)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
			t.Errorf("it is %s", kind)
		}
		for in := bufio.NewScanner(resp.Body); len(out) < lines && in.Scan(); {
			text := in.Text()
			if text == "" || text == ":" {
				continue
			}
			if out = append(out, text); len(out) == before {
				s.say <- [2]string{"home", `{"last":"` + last + `"}`}
			}
		}
		return out
	}
	got := read("", 4, 7)
	if want := []string{"retry: 2000", "id: 7", "event: reset", "data: {}", "id: 8", "event: home",
		`data: {"last":""}`}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	if got, want := read("8", 1, 4), []string{"retry: 2000", "id: 9", "event: home",
		`data: {"last":"8"}`}; !slices.Equal(got, want) {
		t.Errorf("back again %q, want %q", got, want)
	}
}
