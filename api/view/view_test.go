package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/node"
	"godwit/overlay"
	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/trace"
)

var monday = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

func TestSentence(t *testing.T) {
	pool := []node.OverlayStatus{{Name: "commons"}}
	of := func(overlays ...string) (out []node.LocalTask) {
		for _, o := range overlays {
			out = append(out, node.LocalTask{Overlay: o})
		}
		return out
	}
	for _, tt := range []struct {
		st   node.Status
		want string
	}{
		{node.Status{Slots: 2, Overlays: pool}, "This machine is free: it waits for work, with room for 2 tasks."},
		{node.Status{Slots: 1, Overlays: pool, Tasks: 1, Running: of("commons")}, "This machine runs 1 task for commons."},
		{node.Status{Tasks: 3, Running: of("a", "b", "a")}, "This machine runs 3 tasks for a and b."},
		{node.Status{Tasks: 4, Running: of("a", "b", "c", "d")}, "This machine runs 4 tasks for a, b, c and 1 more."},
		{node.Status{Tasks: 1}, "This machine runs 1 task for others."},
		{node.Status{Slots: 2}, "This machine serves no overlay: it has nobody to work for."},
		{node.Status{Overlays: pool}, "This machine takes nothing new now."},
		{node.Status{Rule: owner.RulePause, State: trace.UserPresent}, "This machine is paused: it runs nothing."},
		{node.Status{Rule: owner.RulePause, Tasks: 1, Stopped: true}, "This machine is paused: 1 task stands still."},
		{node.Status{Drained: true, State: trace.Leaving}, "This machine takes nothing new: it is drained."},
		{node.Status{Drained: true, Tasks: 1}, "This machine takes nothing new: 1 task goes on elsewhere."},
		{node.Status{Stopped: true, Tasks: 2, State: trace.UserPresent},
			"This machine waits for its owner: 2 tasks stand still."},
		{node.Status{State: trace.CPUBusy}, "This machine runs nothing for others now."},
		{node.Status{Tasks: 1, Running: of("<b>\u202e" + strings.Repeat("x", 9999))},
			"This machine runs 1 task for <b>\ufffd" + strings.Repeat("x", maxText-6) + "."},
	} {
		if got := Sentence(&tt.st); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.st, got, tt.want)
		}
	}
}

// A strip covers the time once, whatever it is made of, and has no more than a page shows.
func TestStrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spells []trace.Spell
		at := monday
		for range rapid.IntRange(0, 700).Draw(t, "spells") {
			end := at.Add(time.Duration(rapid.IntRange(1, 1000).Draw(t, "seconds")) * time.Second)
			spells = append(spells, trace.Spell{State: trace.State(rapid.IntRange(0, 5).Draw(t, "state")), Start: at, End: end})
			at = end
		}
		s := NewStrip(spells)
		if len(s.Spells) > MaxRows || (len(s.Spells) == 0) != (len(spells) == 0) {
			t.Fatalf("%d spells of %d", len(s.Spells), len(spells))
		}
		before := monday
		for _, x := range s.Spells {
			if !x.From.Equal(before) || !x.To.After(x.From) {
				t.Fatalf("%v to %v after %v", x.From, x.To, before)
			}
			before = x.To
		}
		if len(spells) > 0 && !before.Equal(at) {
			t.Fatalf("it ends at %v, not %v", before, at)
		}
	})
}

func TestTimeline(t *testing.T) {
	at := func(s int) time.Time { return monday.Add(time.Duration(s) * time.Second) }
	tasks := []message.TaskStatus{
		{Index: 3, Attempts: []message.AttemptStatus{{Worker: "a", Start: at(1), End: at(5), Outcome: "moved", MovedTo: "b"},
			{Worker: "b", Start: at(6), FromCheckpoint: true}}},
		{Index: 4, Attempts: []message.AttemptStatus{{Worker: "a", Start: at(5), End: at(9), Outcome: "completed"}}},
	}
	line := NewTimeline(tasks, 10, at(10))
	b, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"from":"2026-01-05T00:00:01Z","to":"2026-01-05T00:00:10Z","rows":[{"worker":"a","bars":[` +
		`{"task":3,"from":"2026-01-05T00:00:01Z","to":"2026-01-05T00:00:05Z","outcome":"moved","moved_to":"b"},` +
		`{"task":4,"from":"2026-01-05T00:00:05Z","to":"2026-01-05T00:00:09Z","outcome":"completed"}]},{"worker":"b",` +
		`"bars":[{"task":3,"from":"2026-01-05T00:00:06Z","to":"2026-01-05T00:00:10Z","outcome":"running",` +
		`"from_checkpoint":true}]}],"more":0}`
	if string(b) != want {
		t.Errorf("%s\nwant %s", b, want)
	}
	if one := NewTimeline(tasks, 1, at(10)); len(one.Rows) != 1 || one.Rows[0].Worker != "b" || one.More != 2 {
		t.Errorf("in one lane, of the newest: %+v", one)
	}
}

func TestFailures(t *testing.T) {
	var tasks []FailedTask
	for i := range uint64(100) {
		tasks = append(tasks, FailedTask{Index: i, Reason: fmt.Sprintf("row %d is bad", i), Outcome: "exit-failure",
			ExitCode: 3, Peers: []task.PeerID{"a"}, Stderr: []byte(fmt.Sprintf("begin\n\x1b[31mrow %d\r\n", i))})
	}
	tasks = append(tasks, FailedTask{Index: 100, Reason: "row 1 is bad", Outcome: "exit-failure", ExitCode: 4},
		FailedTask{Index: 101, Outcome: "trapped"})
	f := NewFailures(tasks, 5000)
	if len(f.Groups) != 3 || f.Looked != 102 || f.Failed != 5000 || f.Groups[0].Tasks != 100 || f.Groups[0].First != 0 ||
		f.Groups[0].Stderr != "begin\n [31mrow 0" {
		t.Errorf("%+v", f)
	}
	for i := range 2 * maxGroups {
		tasks = append(tasks, FailedTask{Outcome: strings.Repeat("x", i+1), Stderr: []byte(strings.Repeat("long ", 9999))})
	}
	if f = NewFailures(tasks, 0); len(f.Groups) != maxGroups || f.More != 2*maxGroups+3-maxGroups || f.Failed != f.Looked {
		t.Errorf("%d groups and %d more, of %d", len(f.Groups), f.More, f.Failed)
	}
}

// The stages of a job count as its tasks do, where a bin has one task.
func TestStages(t *testing.T) {
	f, err := task.ParseFile("w.yaml", []byte("name: w\nstages:\n  make:\n    module: m.wasm\n"+
		"    sweep: {n: {from: 1, to: 4}}\n    outputs: [out]\n  sum:\n    module: s.wasm\n    after: make\n"))
	if err != nil {
		t.Fatal(err)
	}
	cid := task.RawCID([]byte("m"))
	if err := f.SetModules(map[string]task.CID{"make": cid, "sum": cid}); err != nil {
		t.Fatal(err)
	}
	spec, err := f.Job("", map[string]task.FileRef{}, "o", monday, make([]byte, task.NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	g := message.NewGrid(spec.Tasks(), message.MaxBins)
	g.Do(message.Range{From: 0, To: 2})
	g.Run(2)
	s := NewStages(spec, g)
	if len(s.Stages) != 2 || s.Stages[0].Tasks != (message.TaskCounts{Total: 4, Waiting: 1, Running: 1, Done: 2}) ||
		s.Stages[1].Tasks != (message.TaskCounts{Total: 1, Waiting: 1}) || s.Stages[1].Needs[0] != "make" ||
		s.Stages[1].First != 4 {
		t.Errorf("%+v", s)
	}
}

// Nothing that a page is sent grows with what there is: at most 200 kB.
func TestSizes(t *testing.T) {
	const most = 200_000
	peer := func(i int) task.PeerID { return task.PeerID(fmt.Sprintf("12D3KooW%044d", i)) }
	st := node.Status{PeerID: peer(0)}
	var jobs []message.JobStatus
	for i := range 1000 {
		jobs = append(jobs, message.JobStatus{ID: task.JobID(fmt.Sprintf("bafy%055d", i)), Name: strings.Repeat("n", 128),
			Submitter: peer(0), State: message.JobRunning, Reason: strings.Repeat("r", 9999)})
		st.Running = append(st.Running, node.LocalTask{Task: fmt.Sprintf("bafy%055d/1000000", i), Overlay: "commons"})
		st.Overlays = append(st.Overlays, node.OverlayStatus{ID: task.CID(fmt.Sprintf("bafy%055d", i)), Name: "commons",
			Leader: peer(i)})
	}
	near := make([]node.Member, NearRows)
	var tasks []message.TaskStatus
	var failed []FailedTask
	for i := range 10_000 {
		a := message.AttemptStatus{Worker: peer(i % 500), Start: monday, End: monday.Add(time.Second), Outcome: "moved",
			MovedTo: peer(i)}
		tasks = append(tasks, message.TaskStatus{Index: uint64(i), Attempts: []message.AttemptStatus{a, a}})
		failed = append(failed, FailedTask{Index: uint64(i), Outcome: fmt.Sprint("x", i%26), Reason: strings.Repeat("é", 999),
			Stderr: []byte(strings.Repeat("\x00", 9999)), Peers: []task.PeerID{peer(1), peer(2)}})
	}
	records := make([]node.MemberRecord, 100)
	for i := range records {
		h := &trace.History{}
		for k := range 500 {
			if err := h.Append(monday.Add(time.Duration(k)*time.Hour), overlay.State(k%2), 1); err != nil {
				t.Fatal(err)
			}
		}
		records[i] = node.MemberRecord{Peer: peer(i), Overlay: "commons", Spells: h}
	}
	rel := NewReliability(records[:10], 1)
	if rel.Asked == 0 || len(rel.Bins) == 0 || rel.Why != "" {
		t.Errorf("how good forecasts are: %+v", rel)
	}
	for name, v := range map[string]any{
		"home": NewHome(&st, near, 12, jobs), "timeline": NewTimeline(tasks, maxLanes, monday),
		"failures": NewFailures(failed, 0), "habits": NewHabits(records), "reliability": rel,
	} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > most {
			t.Errorf("%s has %d bytes", name, len(b))
		}
	}
}
