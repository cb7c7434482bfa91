//go:build plot

package timeline

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"godwit/scheduler/message"
)

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
