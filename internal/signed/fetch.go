package signed

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// maxRedirects is how often a web page may send on to another.
const maxRedirects = 5

// The ways to name a place, besides the path of a file.
const (
	SchemeWeb  = "https://"
	schemeFile = "file:"
)

// Fetch reads a text from where it is: https://..., file:PATH or a path. It reads one byte more than limit at most, so
// that whoever parses what came refuses it for its length. A nil web is http.DefaultTransport. The caller bounds the
// time.
func Fetch(ctx context.Context, web http.RoundTripper, from string, limit int64) ([]byte, error) {
	if !strings.HasPrefix(from, SchemeWeb) {
		f, err := os.Open(strings.TrimPrefix(from, schemeFile))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, limit+1))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	if web == nil {
		web = http.DefaultTransport
	}
	req.Close = true // nothing is asked there again for a day
	client := http.Client{Transport: web, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || r.URL.Scheme != "https" {
			return fmt.Errorf("it sends on to %s, or too often", r.URL.Redacted())
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, limit+1))
}
