package main

import (
	"runtime/debug"
	"strings"
	"testing"

	"godwit/overlay"
	"godwit/task"
)

// TestVersion: every build says what it is, in one word that an advert can hold.
func TestVersion(t *testing.T) {
	const commit = "1b1fe82f0123456789abcdef0123456789abcdef"
	settings := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.time", Value: "2026-11-27T01:45:00Z"},
			{Key: "vcs.modified", Value: modified}}
	}
	for name, c := range map[string]struct {
		given, module string
		settings      []debug.BuildSetting
		want          string
	}{
		"of a package":        {"0.2.0", "v0.1.0", settings("false"), "0.2.0"},
		"of a module":         {"", "v0.1.0", nil, "v0.1.0"},
		"of a commit":         {"", "(devel)", settings("false"), commit[:12]},
		"changed since":       {"", "", settings("true"), commit[:12] + "+dirty"},
		"of a strange commit": {"", "", []debug.BuildSetting{{Key: "vcs.revision", Value: "7"}}, "7"},
		"of nothing":          {"", "", nil, "development"},
		"of nothing but Go":   {"", "(devel)", nil, "development"},
		"of a commit by Go": {"", "v0.0.0-20261127014500-1b1fe82f0123+dirty", settings("true"),
			"v0.0.0-20261127014500-1b1fe82f0123+dirty"},
		"a package of changed": {"0.0.0-20261127014500.g1b1fe82f0123", "", nil, "0.0.0-20261127014500.g1b1fe82f0123"},
	} {
		b := buildOf(c.given, &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings})
		if b.Version != c.want {
			t.Errorf("%s: %q, want %q", name, b.Version, c.want)
		}
		// Members add a mark of a few bytes.
		if len(b.Version) > overlay.MaxVersion-8 || task.Printable(b.Version, overlay.MaxVersion) != b.Version ||
			strings.ContainsAny(b.Version, " \t") {
			t.Errorf("%s: %q is no word for adverts", name, b.Version)
		}
		if (b.Revision != "") != (c.settings != nil) || b.Go == "" || b.System == "" {
			t.Errorf("%s: %+v", name, b)
		}
	}
}
