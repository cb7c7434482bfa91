package migrate

import (
	"testing"
	"time"

	"godwit/task"
)

// evenly is a forecast by which each member stays for any time with a probability.
type evenly map[task.PeerID]float64

func (e evenly) Stay(peer task.PeerID, _ time.Time, _ time.Duration) (float64, bool) {
	p, ok := e[peer]
	return p, ok
}

// bagEnd is the end of a bag: one task at "here", and "there", idle.
func bagEnd(here, there float64, r Run) []Host {
	return []Host{
		{Peer: "here", Tasks: []task.TaskID{{Job: "j", Index: 7}}, Runs: []Run{r}, Speed: here},
		{Peer: "there", Idle: 1, Speed: there},
	}
}

// TestSlow: a task is copied where that is expected to end in half of the time, and
// nowhere while others wait.
func TestSlow(t *testing.T) {
	stays := evenly{"here": 1, "there": 1}
	for _, tt := range []struct {
		name        string
		here, there float64
		run         Run
		f           evenly
		s           Situation
		want        int
	}{
		{"twice as fast", 1, 2, Run{Left: time.Hour}, stays, Situation{}, 1},
		{"less", 1, 1.9, Run{Left: time.Hour}, stays, Situation{}, 0},
		{"too little left", 1, 4, Run{Left: 5 * time.Second}, stays, Situation{}, 0},
		{"much to do again", 1, 4, Run{Left: time.Hour, Unsaved: 2 * time.Hour}, stays, Situation{}, 0},
		{"it has one", 1, 4, Run{Left: time.Hour, Copied: true}, stays, Situation{}, 0},
		{"others wait", 1, 4, Run{Left: time.Hour}, stays, Situation{Waiting: 1}, 0},
		{"always", 1, 4, Run{Left: time.Hour}, stays, Situation{Endless: true}, 0},
		{"it will go", 1, 1, Run{Left: time.Hour, Unsaved: time.Hour}, evenly{"here": 0, "there": 1}, Situation{}, 0},
		{"it will go, of much", 1, 1.3, Run{Left: time.Hour, Unsaved: 0}, evenly{"here": 0, "there": 1}, Situation{}, 0},
	} {
		c := &Slow{}
		got := c.Copies(time.Time{}, bagEnd(tt.here, tt.there, tt.run), tt.f, tt.s)
		if len(got) != tt.want {
			t.Errorf("%s: %d copies, want %d", tt.name, len(got), tt.want)
		}
		if len(got) == 1 && (got[0].From != "here" || got[0].To != "there" || got[0].Task.Index != 7 || got[0].Why() == "") {
			t.Errorf("%s: got %+v, %q", tt.name, got[0], got[0].Why())
		}
	}
}

// TestCopierOf: a rule that nobody knows is refused with those that there are.
func TestCopierOf(t *testing.T) {
	for _, none := range []string{"", "none"} {
		if c, err := CopierOf(none); c != nil || err != nil {
			t.Errorf("%q: %v, %v", none, c, err)
		}
	}
	if c, err := CopierOf("slow"); c == nil || err != nil {
		t.Errorf("slow: %v, %v", c, err)
	}
	if _, err := CopierOf("fast"); err == nil {
		t.Error("fast is a rule")
	}
}
