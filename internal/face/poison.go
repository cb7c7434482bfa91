package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"time"

	"godwit/api/web"
)

// poison is what a hostile peer may put wherever it writes text: markup, marks that turn the direction of text around,
// controls, and 10 kB.
var poison = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>` +
	"\u202e\u2066\u200f\x1b[2J\x00" + strings.Repeat("w", 10<<10)

// enumerated are texts that are one of a few words, which decoders refuse where they are others.
var enumerated = regexp.MustCompile(`^[a-z-]{1,20}$`)

// poisoned is an answer of the API with the poison in each text that a peer could have written, keys included.
func poisoned(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if key == "params" {
				k = poison
			}
			out[k] = poisoned(x, k)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = poisoned(x, key)
		}
		return out
	case string:
		if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return v
		}
		if enumerated.MatchString(v) && key != "name" && key != "overlay" {
			return v
		}
		return poison
	}
	return v
}

// A relay stands between a browser and a node: it serves the pages, and answers as the node does, changed.
type relay struct {
	*httptest.Server
	change func(any) any
	events func(w http.ResponseWriter, r *http.Request)

	mu   sync.Mutex
	kept map[string][]byte // answers by path, asked for once; nil: asked for each time
}

// newRelay serves for node i of a swarm.
func newRelay(s *swarm, i int, change func(any) any, events http.HandlerFunc, keep bool) (*relay, error) {
	token, err := s.token(i)
	if err != nil {
		return nil, err
	}
	r := &relay{change: change, events: events}
	if keep {
		r.kept = map[string][]byte{}
	}
	mux := http.NewServeMux()
	pages := web.Handler()
	mux.Handle("GET /{$}", pages)
	mux.Handle("GET "+web.Prefix, pages)
	mux.HandleFunc("GET /v1/session", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"by":"cookie"}`) })
	mux.HandleFunc("GET /v1/events", r.events)
	mux.HandleFunc("GET /v1/", func(w http.ResponseWriter, req *http.Request) {
		b, err := r.answer(s.origin(i)+req.URL.RequestURI(), token)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(b)
	})
	r.Server = httptest.NewServer(mux)
	return r, nil
}

// door returns the address that opens the pages: the relay accepts every token.
func (r *relay) door() string { return r.URL + "/#session=" + strings.Repeat("0", tokenDigits) }

// tokenDigits is the length of a session's token.
const tokenDigits = 64

// answer is what the node says, changed.
func (r *relay) answer(url, token string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, ok := r.kept[url]; ok {
		return b, nil
	}
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var v any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		return nil, fmt.Errorf("reading an answer of %s: %w", url, err)
	}
	b, err := json.Marshal(r.change(v))
	if err == nil && r.kept != nil {
		r.kept[url] = b
	}
	return b, err
}
