package node

import (
	"strings"
	"testing"

	"godwit/task"
	"godwit/task/referee"
)

// What another compiler, another version or another worker may explain is not held against who signed.
func TestUnsure(t *testing.T) {
	trail := func(pass uint32, engine string) *task.Trail { return &task.Trail{Pass: pass, Engine: engine} }
	for name, tt := range map[string]struct {
		signed *task.Trail
		here   referee.Finding
		why    string
	}{
		"the same":             {trail(1, "amd64"), referee.Finding{By: "w", Pass: 1, Engine: "amd64"}, ""},
		"interpreted there":    {trail(1, task.EngineInterpreter), referee.Finding{By: "w", Pass: 1, Engine: "amd64"}, ""},
		"no trails":            {nil, referee.Finding{By: "w"}, ""},
		"another compiler":     {trail(1, "arm64"), referee.Finding{By: "w", Pass: 1, Engine: "amd64"}, "compiled for"},
		"another version":      {trail(2, "amd64"), referee.Finding{By: "w", Pass: 1, Engine: "amd64"}, "under pass 2"},
		"no trail there":       {nil, referee.Finding{By: "w", Pass: 1, Engine: "amd64"}, "under pass 0"},
		"another worker's run": {trail(1, "amd64"), referee.Finding{By: "v", Pass: 1, Engine: "amd64"}, "another worker"},
	} {
		why := unsure(&task.Result{Worker: "w", Trail: tt.signed}, &tt.here)
		if (why == "") != (tt.why == "") || !strings.Contains(why, tt.why) {
			t.Errorf("%s: %q", name, why)
		}
	}
}
