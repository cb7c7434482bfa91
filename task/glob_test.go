package task

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatchFile(t *testing.T) {
	for _, c := range []struct {
		pattern, matches, others string
	}{
		{"*.png", "a.png b.png", "a.jpg in/a.png .a.png"},
		{"in/*.png", "in/a.png", "a.png in/b/a.png in/.a.png"},
		{"in/**/*.png", "in/a.png in/b/a.png in/b/c/a.png", "a.png in/a.jpg out/a.png in/.git/a.png in/b/.c/a.png"},
		{"**/a?", "ab in/ab in/b/ac", "a in/abc .in/ab"},
		{"**/.x/*", ".x/a in/.x/a", "x/a .x/.a .x/b/a"},
		{"**/b/**/c", "b/c a/b/c b/a/c b/b/c x/b/y/z/c", "c b a/c b/c/d"},
		{"[ab]/[c-d]", "a/c b/d", "c/c a/e ac"},
	} {
		for _, name := range strings.Fields(c.matches) {
			if !MatchFile(c.pattern, name) {
				t.Errorf("%s does not match %s", c.pattern, name)
			}
		}
		for _, name := range strings.Fields(c.others) {
			if MatchFile(c.pattern, name) {
				t.Errorf("%s matches %s", c.pattern, name)
			}
		}
	}
}

// A pattern matches what trying all ways finds.
func TestMatchFileTwin(t *testing.T) {
	var twin func(p, n []string) bool
	twin = func(p, n []string) bool {
		switch {
		case len(p) == 0:
			return len(n) == 0
		case p[0] == anyDirs:
			return twin(p[1:], n) || len(n) > 0 && !strings.HasPrefix(n[0], ".") && twin(p, n[1:])
		case len(n) == 0:
			return false
		}
		ok, _ := path.Match(p[0], n[0])
		return ok && !(strings.HasPrefix(n[0], ".") && !strings.HasPrefix(p[0], ".")) && twin(p[1:], n[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.SampledFrom([]string{"**", "*", "a", "?b", ".*"}), 1, 7).Draw(t, "pattern")
		p = append(p, rapid.SampledFrom([]string{"*", "a", "ab"}).Draw(t, "last"))
		n := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "b", ".a"}), 1, 8).Draw(t, "name")
		if got, want := MatchFile(strings.Join(p, "/"), strings.Join(n, "/")), twin(p, n); got != want {
			t.Fatalf("%v matches %v: %v, want %v", p, n, got, want)
		}
	})
}

func TestGlobBase(t *testing.T) {
	for pattern, want := range map[string]string{
		"*.png": ".", "in/*.png": "in", "in/b*/c.png": "in", "in/a/**/x": "in/a", "a": ".", "in/a": "in",
	} {
		if got := GlobBase(pattern); got != want {
			t.Errorf("%s is below %s, want %s", pattern, got, want)
		}
	}
}

// TestMatchFileVectors holds MatchFile to what the other programs with the same patterns are held to: the Python client
// and the dashboard.
func TestMatchFileVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/globs.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Names   []string
		Matches map[string][]string
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Names) < 40 || len(v.Matches) < 40 {
		t.Errorf("there are %d names and %d patterns", len(v.Names), len(v.Matches))
	}
	for pattern, want := range v.Matches {
		for _, name := range v.Names {
			if got := MatchFile(pattern, name); got != slices.Contains(want, name) {
				t.Errorf("%q matches %q: %v", pattern, name, got)
			}
		}
	}
}

// TestMatchFileIsFast ends at once for patterns for which trying all ways would take hours.
func TestMatchFileIsFast(t *testing.T) {
	for pattern, name := range map[string]string{
		strings.Repeat("**/", 10) + "b":    strings.Repeat("a/", 60) + "a",
		strings.Repeat("*a", 60) + "*b":    strings.Repeat("a", 255),
		strings.Repeat("**/*a*/", 8) + "b": strings.Repeat("aa/", 60) + "a",
	} {
		if MatchFile(pattern, name) {
			t.Errorf("%.20s... matches %.20s...", pattern, name)
		}
	}
}
