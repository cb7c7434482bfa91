package task

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestValidSandboxPath(t *testing.T) {
	for _, p := range []string{"a", "a/b", "..a", "a..", "...", ".hidden", "a b", "ü/ö.txt", "-", "stdout", "ab:c/d",
		strings.Repeat("d/", maxDepth-1) + "f"} {
		if err := ValidSandboxPath(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{
		"", ".", "..", "/", "/a", "a/", "a//b", "./a", "a/.", "a/./b", "../a", "a/..", "a/../b", `..\a`, `a\b`, `\\host\a`,
		"C:", "C:a", "c:/a", "a\x00", "a\nb", "\x7f", "\u0085", "\xff", strings.Repeat("a", maxComponent+1),
		strings.Repeat("aa/", 200) + "a", strings.Repeat("d/", maxDepth) + "f",
	} {
		if ValidSandboxPath(p) == nil {
			t.Errorf("%.40q was accepted", p)
		}
	}
}

// Whatever is accepted stays below the directory it is joined to.
func TestSandboxPathStaysInside(t *testing.T) {
	piece := rapid.SampledFrom([]string{"..", ".", "/", `\`, "a", "é", " ", "C:", "~", "\x00", "..."})
	rapid.Check(t, func(t *rapid.T) {
		p := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
		if ValidSandboxPath(p) != nil {
			return
		}
		if joined := path.Join("/root/dir", p); joined != "/root/dir/"+p {
			t.Fatalf("%q comes to %q", p, joined)
		}
	})
}

func TestMatchOutput(t *testing.T) {
	for _, test := range []struct {
		patterns string
		name     string
		want     bool
	}{
		{"stdout", "stdout", true},
		{"stdout", "stderr", false},
		{"*", "stdout", false},
		{"std*", "stderr", false},
		{"* stderr", "stderr", true},
		{"*.png", "a.png", true},
		{"*.png", "d/a.png", false},
		{"d/*.png", "d/a.png", true},
		{"*/*.png", "d/a.png", true},
		{"out[0-9].txt", "out7.txt", true},
		{"out?.txt", "out77.txt", false},
		{"x *.txt", "a.txt", true},
		{"[", "a", false},
		{"", "a", false},
	} {
		if got := MatchOutput(strings.Fields(test.patterns), test.name); got != test.want {
			t.Errorf("MatchOutput(%q, %q) = %v", test.patterns, test.name, got)
		}
	}
}

func TestValidOutputPattern(t *testing.T) {
	for _, p := range []string{"stdout", "stderr", "*", "*.png", "d/*/[a-z]?", "a"} {
		if err := ValidOutputPattern(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{"", "../*", "/x", "a/", "[", "[]a]", "a[", `\*`, "{{.x}}", "*/../x", "\xff"} {
		if ValidOutputPattern(p) == nil {
			t.Errorf("%q was accepted", p)
		}
	}
}
