package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// names is a name system with one name.
type names map[string][]string

func (n names) LookupTXT(_ context.Context, name string) ([]string, error) {
	if r, ok := n[name]; ok {
		return r, nil
	}
	return nil, errors.New("no such host")
}

// A list comes from a file, the web and the name system, and no more is read of what is too long.
func TestLoad(t *testing.T) {
	l := listOf(t, 5, 1)
	long := bytes.Repeat([]byte("x"), 10*MaxBytes)
	mux := http.NewServeMux()
	mux.HandleFunc("/list", func(w http.ResponseWriter, _ *http.Request) { w.Write(l.Text()) })
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) { w.Write(long) })
	mux.Handle("/plain", http.RedirectHandler("http://192.0.2.1/list", http.StatusFound))
	mux.Handle("/moved", http.RedirectHandler("/list", http.StatusFound))
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusFound))
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(file, l.Text(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".long", long, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Source{Web: server.Client().Transport, Names: names{
		"_dnsaddr.boot.example.org": l.Records(), "_dnsaddr.many.example.org": make([]string, maxRecords+1),
		"_dnsaddr.plain.example.org": {"dnsaddr=" + l.Peers[0].String()},
	}}
	for from, why := range map[string]string{
		file: "", "file:" + file: "", server.URL + "/list": "", server.URL + "/moved": "",
		"dnsaddr:boot.example.org": "", "dnsaddr:/dnsaddr/boot.example.org": "",
		file + ".none":              "no such file",
		file + ".long":              "at most",
		server.URL + "/none":        "404",
		server.URL + "/long":        "at most",
		server.URL + "/plain":       "sends on",
		server.URL + "/round":       "sends on",
		"http://example.org/list":   "https",
		"https://":                  "https",
		"dnsaddr:":                  "dnsaddr:NAME",
		"":                          "a file",
		"dnsaddr:none.example.org":  "no such host",
		"dnsaddr:many.example.org":  "text records",
		"dnsaddr:plain.example.org": "no list", // of peers that nobody has signed
	} {
		got, err := s.Load(t.Context(), from)
		switch {
		case why != "" && (err == nil || !strings.Contains(err.Error(), why)):
			t.Errorf("%q: %v", from, err)
		case why == "" && (err != nil || !bytes.Equal(got.Text(), l.Text())):
			t.Errorf("%q: %v\n%s", from, err, got.Text())
		}
	}
	if (CheckName(file) == nil) == (CheckName("http://example.org") == nil) {
		t.Error("a source is told from what is none only when it is asked")
	}
}
