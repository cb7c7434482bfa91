package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
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

func TestLayOut(t *testing.T) {
	plain := func(i uint64, attempts ...message.AttemptStatus) message.TaskStatus {
		return message.TaskStatus{Index: i, Attempts: attempts}
	}
	for _, tt := range []struct {
		name               string
		tasks              []message.TaskStatus
		rows, bars, arrows string // peer:lanes; task@row.lane from-to kind; bar>bar
	}{
		{"nothing", nil, "[]", "[]", "[]"},
		{"a move and a loss", []message.TaskStatus{travelled()}, "[peer-one:1 peer-two:1]",
			"[3@0.0 1s-6s moved away 3@1.0 5.5s-9s lost 3@0.0 11s-14.5s completed]", "[0>1]"},
		{"two at once, one after", []message.TaskStatus{
			plain(0, attempt("a", 0, 4, "completed", "", nil)), plain(1, attempt("a", 1, 3, "trapped", "", nil)),
			plain(2, attempt("a", 3, 5, "completed", "", nil)),
		}, "[a:2]", "[0@0.0 0s-4s completed 1@0.1 1s-3s ended otherwise 2@0.1 3s-5s completed]", "[]"},
		{"rows by who began first", []message.TaskStatus{
			plain(0, attempt("z", 5, 0, "", "", nil)), plain(1, attempt("a", 2, 6, "completed", "", nil)),
		}, "[a:1 z:1]", "[0@1.0 5s-10s running 1@0.0 2s-6s completed]", "[]"},
		{"moved to where it never began", []message.TaskStatus{
			plain(0, attempt("a", 0, 1, "moved", "", func(a *message.AttemptStatus) { a.MovedTo = "b" }),
				attempt("c", 2, 3, "completed", "", nil)),
		}, "[a:1 c:1]", "[0@0.0 0s-1s moved away 0@1.0 2s-3s completed]", "[]"},
	} {
		g := layOut(Of(tt.tasks), submitted, after(10))
		rows, bars, arrows := []string{}, []string{}, []string{}
		for _, r := range g.rows {
			rows = append(rows, fmt.Sprintf("%s:%d", r.peer, r.lanes))
		}
		for _, b := range g.bars {
			bars = append(bars, fmt.Sprintf("%d@%d.%d %v-%v %s", b.task, b.row, b.lane, b.from, b.to, barNames[b.kind]))
		}
		for _, a := range g.arrows {
			arrows = append(arrows, fmt.Sprintf("%d>%d", a.from, a.to))
		}
		got := []string{fmt.Sprint(rows), fmt.Sprint(bars), fmt.Sprint(arrows)}
		if want := []string{tt.rows, tt.bars, tt.arrows}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
	}
}

// The picture has a path for each bar and each arrow's head, and grows with peers.
func TestSaveGantt(t *testing.T) {
	dir := t.TempDir()
	none := layOut(nil, submitted, after(1))
	g := layOut(Of([]message.TaskStatus{travelled()}), submitted, after(20))
	for _, tt := range []struct {
		name string
		g    *chart
	}{{"none.svg", &none}, {"some.svg", &g}, {"some.png", &g}} {
		if err := save(filepath.Join(dir, tt.name), "render", tt.g); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if !strings.Contains(read("none.svg"), "nothing to show") {
		t.Error("a picture of nothing does not say so")
	}
	svg := read("some.svg")
	for _, want := range []string{"peer-one", "peer-two", "moved away", "completed", "lost", "seconds since submission"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture has no %q", want)
		}
	}
	// Each bar and, of those that there are, each kind's key.
	for colour, want := range map[string]int{"#009E73": 2, "#0072B2": 2, "#D55E00": 2} {
		if n := strings.Count(svg, "fill:"+colour); n != want {
			t.Errorf("%d shapes of colour %s, want %d", n, colour, want)
		}
	}
	if _, err := png.DecodeConfig(strings.NewReader(read("some.png"))); err != nil {
		t.Error(err)
	}
}
