package signed

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mirror may be slow, large, or send elsewhere: no more than the limit and a byte is read, and nothing but https.
func TestFetch(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("plain"))
	}))
	defer plain.Close()
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			_, _ = w.Write([]byte("text"))
		case "/large":
			_, _ = w.Write([]byte(strings.Repeat("x", 1<<16)))
		case "/on":
			http.Redirect(w, r, "/text", http.StatusFound)
		case "/plain":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{ // "" for an error
		web.URL + "/text":  "text",
		web.URL + "/on":    "text",
		web.URL + "/large": strings.Repeat("x", 11),
		web.URL + "/plain": "",
		web.URL + "/round": "",
		web.URL + "/none":  "",
		file:               "text",
		"file:" + file:     "text",
		file + ".not":      "",
		"https://%zz":      "",
	} {
		got, err := Fetch(t.Context(), web.Client().Transport, from, 10)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", from, got, err)
		}
	}
}
