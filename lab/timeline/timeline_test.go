package timeline

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

var submitted = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(s float64) time.Time { return submitted.Add(time.Duration(s * float64(time.Second))) }

// attempt is one on a peer, from and to seconds after the submission; to 0: it runs.
func attempt(peer string, from, to float64, outcome, reason string,
	change func(*message.AttemptStatus)) message.AttemptStatus {
	a := message.AttemptStatus{Worker: task.PeerID(peer), Start: after(from), Outcome: outcome, Reason: reason}
	if to > 0 {
		a.End = after(to)
	}
	if change != nil {
		change(&a)
	}
	return a
}

// travelled is a task that was handed over, lost, and completed.
func travelled() message.TaskStatus {
	return message.TaskStatus{Index: 3, Params: map[string]string{"a": "x", "b": "2"}, State: "done",
		Attempts: []message.AttemptStatus{
			attempt("peer-one", 1, 6, "moved", "its owner is back", func(a *message.AttemptStatus) {
				a.MovedTo, a.DownS, a.MovedBytes = "peer-two", 0.06, 3<<20
			}),
			attempt("peer-two", 5.5, 9, "lost", "the worker is gone",
				func(a *message.AttemptStatus) { a.FromCheckpoint, a.SavedCPU = true, 4.5 }),
			attempt("peer-one", 11, 14.5, "completed", "next in order",
				func(a *message.AttemptStatus) { a.FromCheckpoint, a.SavedCPU = true, 4.5 }),
		}}
}

func TestJobTexts(t *testing.T) {
	st := message.JobStatus{ID: "bafyjob", Name: "render", Overlay: "lab", Submitted: submitted, State: "done",
		Migrations: 1,
		Tasks:      message.TaskCounts{Total: 4, Done: 4}, TasksList: []message.TaskStatus{travelled()}}
	var story bytes.Buffer
	PrintStory(&story, st)
	wantStory := `task       3 of render (a=x b=2), done
       +1s began on peer-one
     +5.5s went on on peer-two (4.5s of CPU time saved, stood still for 60ms, 3MiB moved)
     +5.9s froze, to move to peer-two: its owner is back
       +9s lost: the worker is gone
      +11s went on on peer-one (4.5s of CPU time saved, waited for 2s)
    +14.5s completed: next in order
`
	if got := story.String(); got != wantStory {
		t.Errorf("the story is\n%s\nwant\n%s", got, wantStory)
	}
	var table bytes.Buffer
	Print(&table, st, false)
	_, rows, _ := strings.Cut(table.String(), "\n\n")
	wantRows := `TASK  PARAMS   STATE  WHEN            RAN-ON    WHAT-HAPPENED
3     a=x b=2  done   +1s to +6s      peer-one  moved after 5s to peer-two (stood still for 60ms): its owner is back
                      +5.5s to +9s    peer-two  went on from a checkpoint (4.5s saved), lost after 3.5s: ` +
		`the worker is gone
                      +11s to +14.5s  peer-one  went on from a checkpoint (4.5s saved), completed after 3.5s: ` +
		`next in order
`
	if rows != wantRows || !strings.Contains(table.String(),
		"stood      still for 60ms in the mean of 1 moves, at most 60ms\n") {
		t.Errorf("the table is\n%s\nwant\n%s", table.String(), wantRows)
	}
}

// A running task has the percentage of its work that is done, if that is known.
func TestCompletedIsTold(t *testing.T) {
	for _, c := range []struct {
		completed float64
		want      string
	}{{0, "running"}, {.454, "running, some 45 %"}, {.9, "running, some 90 %"}} {
		if got := stateOf(message.TaskStatus{State: message.JobRunning, Completed: c.completed}); got != c.want {
			t.Errorf("%v: %q, want %q", c.completed, got, c.want)
		}
	}
}

// A job says what the belief in its results rests on that others told.
func TestToldText(t *testing.T) {
	st := message.JobStatus{Submitted: submitted, Checks: &message.Checks{}}
	var without, with bytes.Buffer
	Print(&without, st, false)
	st.Checks.Heard = &message.Heard{Tellers: 2, Workers: 3, Own: 35.5, Told: 12}
	Print(&with, st, false)
	const told = "told       of 3 of its workers 35.5 tasks were found right here; what 2 other members found right " +
		"counts for 12.0 more\n"
	if strings.Contains(without.String(), "told") || !strings.Contains(with.String(), told) {
		t.Errorf("it says\n%s\nand where others told\n%s", without.String(), with.String())
	}
}

// Of many tasks those with a story are listed, and the others counted.
func TestJobOfManyTasks(t *testing.T) {
	st := message.JobStatus{Submitted: submitted, Tasks: message.TaskCounts{Total: 5000}}
	for i := range 5000 {
		s := message.TaskStatus{Index: uint64(i), State: "done",
			Attempts: []message.AttemptStatus{attempt("p", 1, 2, "completed", "", nil)}}
		if i%200 == 7 {
			s.Attempts = travelled().Attempts
		}
		st.TasksList = append(st.TasksList, s)
	}
	for _, all := range []bool{false, true} {
		var out bytes.Buffer
		Print(&out, st, all)
		const left = "4980 more tasks: 5 done, 4975 done in one piece; --tasks lists all, --task N one\n"
		n := strings.Count(out.String(), "\n")
		if all && n < 5000 || !all && (n > 80 || !strings.HasSuffix(out.String(), left)) {
			t.Errorf("all %v: %d lines, the end: %s", all, n, out.String()[out.Len()-200:])
		}
	}
}

// TestMissingIsTold: a task that left an output out says so where it is listed, alone and among many.
func TestMissingIsTold(t *testing.T) {
	lacks := "it wrote no a.csv, b.csv, which the job names as outputs"
	st := message.JobStatus{ID: "j", Name: "fit", State: "done", Submitted: submitted}
	for i := range uint64(mostRows + 5) {
		one := message.TaskStatus{Index: i, State: "done", Attempts: []message.AttemptStatus{
			attempt("p", 0, 1, "completed", "", nil)}}
		if i == 7 {
			one.Missing = []string{"a.csv", "b.csv"}
		}
		st.TasksList = append(st.TasksList, one)
	}
	var all, story strings.Builder
	Print(&all, st, false)
	if got := strings.Count(all.String(), lacks); got != 1 || !strings.Contains(all.String(), "24 done in one piece") {
		t.Errorf("told %d times, want once of one task:\n%s", got, all.String())
	}
	st.TasksList = st.TasksList[7:8]
	PrintStory(&story, st)
	if !strings.Contains(story.String(), "warning "+lacks) {
		t.Errorf("not told:\n%s", story.String())
	}
}

func TestTimelineJSON(t *testing.T) {
	b, err := json.Marshal(Job{message.JobStatus{Name: "render"}, Of([]message.TaskStatus{travelled()})})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"name":"render"`, `"timeline":[{"task":3,"attempt":1,"peer":"peer-one","start":"2026-03-01T12:00:01Z",` +
			`"end":"2026-03-01T12:00:06Z","outcome":"moved","moved_to":"peer-two","still_s":0.06,` +
			`"moved_bytes":3145728,"reason":"its owner is back"}`,
		`"attempt":3,"peer":"peer-one","start":"2026-03-01T12:00:11Z","end":"2026-03-01T12:00:14.5Z",` +
			`"outcome":"completed","resumed":true,"saved_cpu_s":4.5,"waited_s":2,`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
}
