package timeline

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// texts reads a picture as a browser would, and returns its texts in their order.
func texts(t *testing.T, svg string) (out []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	in := false
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("no XML: %v in %s", err, svg)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			in = tok.Name.Local == "text"
			if tok.Name.Local == "script" {
				t.Error("it has a script")
			}
		case xml.CharData:
			if in {
				out = append(out, string(tok))
			}
		case xml.EndElement:
			in = false
		}
	}
}

// A graph has a box for each stage, to the right of what it reads, and an arrow for each need.
func TestGraph(t *testing.T) {
	st := message.JobStatus{Name: "fit", Stages: []message.StageStatus{
		{Name: "simulate", Tasks: 6, Done: 6},
		{Name: "clean", Tasks: 6, Done: 3, Failed: 1, Needs: []string{"each simulate"}},
		{Name: "fit", Tasks: 2, Needs: []string{"by region, seed of clean"}},
		{Name: "report", Tasks: 1, Needs: []string{"after fit", "after clean"}},
	}}
	st.Tasks.Total, st.Tasks.Done = 15, 9
	var b strings.Builder
	if err := Graph(&b, st); err != nil {
		t.Fatal(err)
	}
	want := "fit: 9 of 15 tasks done|each|by region, seed|after|after|simulate|6 of 6 done|clean|3 of 6 done, 1 failed|" +
		"fit|0 of 2 done|report|0 of 1 done"
	if got := strings.Join(texts(t, b.String()), "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if n := strings.Count(b.String(), "marker-end"); n != 4 {
		t.Errorf("%d arrows", n)
	}
	boxes, right, rows := arrange(st.Stages)
	if rows != 1 || boxes[3].level != 3 || right != boxes[3].x+boxWide {
		t.Errorf("%d rows, the last at level %d from %d on, and all end at %d", rows, boxes[3].level, boxes[3].x, right)
	}
	if said := letterWide * len("by region, seed"); boxes[2].x-boxes[1].x-boxWide < said || boxes[1].x != boxWide+gapWide+
		graphMargin {
		t.Errorf("stages begin at %d, %d and %d: the words between the last two take %d", boxes[0].x, boxes[1].x,
			boxes[2].x, said)
	}
}

// What another node tells of stages is drawn as text, and no more of it than a job may have.
func TestHostileGraph(t *testing.T) {
	st := message.JobStatus{Name: "</text><script>alert(1)</script>"}
	for range 3 * task.MaxStages {
		st.Stages = append(st.Stages, message.StageStatus{Name: "\x00<b>" + strings.Repeat("&", 1000),
			Done: 1 << 63, Failed: 1 << 63,
			Needs: []string{"", " ", "after \x00<b>" + strings.Repeat("&", 1000), "by <x> of nobody"}})
	}
	var b strings.Builder
	if err := Graph(&b, st); err != nil {
		t.Fatal(err)
	}
	if n := len(texts(t, b.String())); n > 4*task.MaxStages {
		t.Errorf("%d texts", n)
	}
	if b.Len() > 1<<20 {
		t.Errorf("%d bytes", b.Len())
	}
}
