package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/internal/release"
	"godwit/task"
)

// TestUpdateMirrors: of a mirror that lies, whatever it shows, nothing is taken and nothing is remembered; of one
// that is right a newer version is told.
func TestUpdateMirrors(t *testing.T) {
	maker, mirror := updateKey(1), updateKey(2)
	version = "0.2.0"
	t.Cleanup(func() { version = "" })
	word := func(v string, key ed25519.PrivateKey, issued time.Time) []byte {
		sums, expires := sha256.Sum256([]byte("sums")), issued.Add(30*24*time.Hour)
		r, err := release.New(v, "https://example.org/godwit", sums, issued, expires)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		return r.Text()
	}
	now, shown := time.Now(), []byte(nil)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(shown) }))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	good, before := word("0.3.0", maker, now), string(word("0.2.1", maker, now.Add(-48*time.Hour)))
	for _, c := range []struct{ name, show, out, err string }{
		{"nothing was seen yet", before, "Version 0.2.1 is there; you have 0.2.0.", ""},
		{"a newer version", string(good), "Version 0.3.0 is there; you have 0.2.0.", ""},
		{"the same again", string(good), "Version 0.3.0 is there; you have 0.2.0.", ""},
		{"what was right once", before, "", "older than one that was seen"},
		{"its own", string(word("9.0.0", mirror, now)), "", "no key that is trusted here"},
		{"a newer number", strings.Replace(string(good), "0.3.0", "9.0.0", 1), "", "the signature of"},
		{"another page", strings.Replace(string(good), "example.org", "evil.example", 1), "", "the signature of"},
		{"what has expired", string(word("0.4.0", maker, now.Add(-31*24*time.Hour))), "", "has expired"},
		{"what is to come", string(word("0.4.0", maker, now.Add(time.Hour))), "", "does not hold yet"},
		{"a film", strings.Repeat("x", 1<<20), "", "more than"},
		{"a login page", "<html>", "", "not a whole word"},
		{"none newer", string(word("0.2.0", maker, now.Add(time.Second))), "You have the newest version, 0.2.0.", ""},
		{"a step back", string(word("0.1.0", maker, now.Add(2*time.Second))), "You have the newest version, 0.2.0.", ""},
	} {
		shown = []byte(c.show)
		before, _ := os.ReadFile(filepath.Join(dir, releaseName))
		u := updateFlags{check: true, from: server.URL, dataDir: dir, keys: []string{string(updateID(maker))}}
		cmd, out := newUpdate(), &bytes.Buffer{}
		cmd.SetOut(out)
		cmd.SetContext(context.Background())
		err := u.run(cmd, server.Client().Transport)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
		if !strings.Contains(out.String(), c.out) || (c.err != "" && out.Len() > 0) {
			t.Errorf("%s: it says %q, want %q", c.name, out, c.out)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, releaseName)); c.err != "" && !bytes.Equal(before, after) {
			t.Errorf("%s: it is remembered", c.name)
		}
	}
}

func updateKey(i int) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(fmt.Appendf(nil, "%032d", i)) }

func updateID(key ed25519.PrivateKey) task.PeerID {
	return task.PeerIDOf(key.Public().(ed25519.PublicKey))
}
