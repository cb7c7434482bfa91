package node

import (
	"strings"
	"testing"

	"godwit/task"
	"godwit/task/referee"
)

// What another compiler, another version or another worker may explain is not held against who signed.
func TestUnsure(t *testing.T) {
	here := referee.Finding{By: "w", Pass: 1, Engine: "amd64"}
	for name, tt := range map[string]struct {
		there referee.Made
		here  referee.Finding
		why   string
	}{
		"the same":          {referee.Made{Engine: "amd64", Pass: 1}, here, ""},
		"interpreted there": {referee.Made{Engine: task.EngineInterpreter, Pass: 1}, here, ""},
		"no trails":         {referee.Made{}, referee.Finding{By: "w"}, ""},
		"another compiler":  {referee.Made{Engine: "arm64", Pass: 1}, here, "compiled for"},
		"another version":   {referee.Made{Engine: "amd64", Pass: 2}, here, "under pass 2"},
		"it does not say":   {referee.Made{}, here, "under pass 0"},
	} {
		tt.here.Theirs = tt.there
		why := unsure(&tt.here)
		if (why == "") != (tt.why == "") || !strings.Contains(why, tt.why) {
			t.Errorf("%s: %q", name, why)
		}
	}
}
