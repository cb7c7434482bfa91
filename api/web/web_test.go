package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// most is what all that a browser loads may have, in bytes as they are.
const most = 100_000

// TestSmall: the whole dashboard stays small.
func TestSmall(t *testing.T) {
	sum := 0
	for _, a := range load() {
		sum += len(a.content)
	}
	t.Logf("%d bytes", sum)
	if sum > most || sum == 0 {
		t.Errorf("all files have %d bytes, want at most %d", sum, most)
	}
}

// TestVendored: the files of others are what they were when they were taken, each is known, and has a licence.
func TestVendored(t *testing.T) {
	sums, err := os.ReadFile("vendor/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("a line of the sums: %q", line)
		}
		known[name] = sum
	}
	entries, err := os.ReadDir("vendor")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("vendor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "SHA256SUMS" || e.Name() == "README.md" {
			continue
		}
		content, err := os.ReadFile(filepath.Join("vendor", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); known[e.Name()] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: its SHA-256 is %x, and not %q", e.Name(), sum, known[e.Name()])
		}
		if !bytes.Contains(readme, []byte(e.Name())) {
			t.Errorf("%s: README.md does not say where it is from", e.Name())
		}
		delete(known, e.Name())
	}
	for name := range known {
		t.Errorf("%s is not there", name)
	}
}

// TestServed: each file has its type and a tag, and whoever has it gets no second copy.
func TestServed(t *testing.T) {
	h := Handler()
	get := func(method, path, tag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for at, a := range load() {
		w := get("GET", at, "")
		if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), a.content) || w.Header().Get("Content-Type") == "" ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", at, w.Code, w.Header())
		}
		if w := get("GET", at, w.Header().Get("ETag")); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
			t.Errorf("%s again: %d, %d bytes", at, w.Code, w.Body.Len())
		}
	}
	for _, x := range []struct {
		method, path string
		code         int
	}{
		{"HEAD", "/", http.StatusOK}, {"POST", "/", http.StatusMethodNotAllowed},
		{"DELETE", "/ui/app.js", http.StatusMethodNotAllowed},
		{"GET", "/ui/", http.StatusNotFound}, {"GET", "/index.html", http.StatusNotFound},
		{"GET", "/ui/web.go", http.StatusNotFound},
		{"GET", "/ui/../web.go", http.StatusNotFound}, {"GET", "/ui/vendor", http.StatusNotFound},
		{"GET", "/ui/vendor/htm.LICENSE", http.StatusNotFound},
	} {
		if w := get(x.method, x.path, ""); w.Code != x.code {
			t.Errorf("%s %s: %d, want %d", x.method, x.path, w.Code, x.code)
		}
	}
}

// unsafe is how text becomes markup or code, and how a page is bound to another place. The policy that comes with the
// pages forbids most of it; here it is not even tried.
var unsafe = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|\beval\(|` +
	`new Function|javascript:|\bon[a-z]+="|style="|https?://|//cdn`)

// TestOwn: what is written here shows text as text, asks nobody else, and has lines that end.
func TestOwn(t *testing.T) {
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Dir(name) == "vendor" {
			return err
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(content), "\n") {
			bare := strings.ReplaceAll(line, `xmlns="http://www.w3.org/2000/svg"`, "")
			if found := unsafe.FindString(bare); found != "" {
				t.Errorf("%s:%d: %q", name, i+1, found)
			}
			if n := utf8.RuneCountInString(line); n > 120 && path.Ext(name) != ".svg" {
				t.Errorf("%s:%d: %d columns", name, i+1, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
