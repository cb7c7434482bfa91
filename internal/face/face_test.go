package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFace carries out every check in a browser, against three nodes. A check that fails leaves a page that the next
// may not be able to use: then it fails too.
func TestFace(t *testing.T) {
	if _, err := findChromium(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	godwit := filepath.Join(t.TempDir(), "godwit")
	build := exec.Command("go", "build", "-o", godwit, "godwit/cmd/godwit")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building godwit: %v\n%s", err, out)
	}
	f, err := open(t.Context(), godwit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range checks {
		if ok := t.Run(c.name, func(t *testing.T) {
			r := f.look(c)
			if r.err != nil {
				t.Fatalf("asked: %s: %v", r.asked, r.err)
			}
			t.Logf("%s: %s", r.asked, r.seen)
		}); !ok && f.tab == nil {
			t.Fatal("nobody is let in")
		}
	}
}

// TestPoisoned: texts that a peer could have written are hostile, and what a decoder would refuse is left.
func TestPoisoned(t *testing.T) {
	got := poisoned(map[string]any{
		"name": "lab", "state": "available", "at": "2026-01-02T03:04:05Z", "n": 1.0, "ok": true,
		"rows": []any{map[string]any{"peer": "12D3Koo", "params": map[string]any{"tile": "3"}}},
	}, "").(map[string]any)
	row := got["rows"].([]any)[0].(map[string]any)
	params := row["params"].(map[string]any)
	if got["name"] != poison || row["peer"] != poison || params[poison] != poison || len(params) != 1 {
		t.Errorf("not hostile: %.200v", got)
	}
	if got["state"] != "available" || got["at"] != "2026-01-02T03:04:05Z" || got["n"] != 1.0 || got["ok"] != true {
		t.Errorf("changed what it is to leave: %.200v", got)
	}
}

// TestTell: a check that is not as asked is told, and counted.
func TestTell(t *testing.T) {
	var out strings.Builder
	if n := tell(&out, []row{{check: checks[0], seen: "so"}, {check: checks[1], err: exec.ErrNotFound}}); n != 1 {
		t.Errorf("%d are broken, want 1", n)
	}
	if s := out.String(); !strings.Contains(s, "NOT SO: "+exec.ErrNotFound.Error()) || strings.Count(s, "\n") != 3 {
		t.Errorf("told:\n%s", s)
	}
}
