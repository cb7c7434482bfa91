package node

import (
	"strings"
	"testing"

	"godwit/node/exec"
	"godwit/overlay"
)

func TestImposedChecked(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg  Config
		want string
	}{
		"on real work": {Config{Experiment: Experiment{Speeds: exec.Speeds{"a": 2}}, Sandbox: []string{"true"}},
			`use runner "sleep"`},
		"zero": {Config{Experiment: Experiment{Speeds: exec.Speeds{"a": 0}, Runner: RunSleep}}, "more than 0"},
		"site": {Config{Site: strings.Repeat("s", overlay.MaxSite+1), Experiment: Experiment{Runner: RunSleep}},
			"at most 64"},
	} {
		tt.cfg.DataDir = t.TempDir()
		if _, err := tt.cfg.withDefaults(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}
