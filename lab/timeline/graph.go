package timeline

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"godwit/scheduler/message"
	"godwit/task"
)

// The measures of a graph of stages, in pixels.
const (
	boxWide, boxHigh = 190, 64
	gapWide, gapHigh = 90, 26 // at least: an arrow's words have to fit
	letterWide       = 6      // of an arrow's words
	graphMargin      = 20
	barHigh          = 8
	headHigh         = 34 // above the boxes, for the job's name
	curve            = 40 // how far an arrow goes straight on at its ends
	lineHigh         = 18 // of text
	mostText         = 72 // bytes of a text
)

// A box is a stage in a graph.
type box struct {
	*message.StageStatus
	level, row int
	x, gap     int // of its left side, and how wide it is free before that
}

func (b *box) y() int { return graphMargin + headHigh + b.row*(boxHigh+gapHigh) }

// Graph draws the stages of a job, and what reads what, as a picture in SVG: each stage to the right of those that it
// reads, with how far it is.
func Graph(out io.Writer, st message.JobStatus) error {
	boxes, right, rows := arrange(st.Stages)
	wide := right + graphMargin
	high := 2*graphMargin + headHigh + rows*boxHigh + max(0, rows-1)*gapHigh
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" `+
		`font-family="sans-serif" font-size="12">`+"\n", wide, high, wide, high)
	b.WriteString(`<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" ` +
		`markerHeight="8" orient="auto">` +
		`<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>` + "\n" +
		`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="15" font-weight="bold">%s</text>`+"\n", graphMargin,
		graphMargin+lineHigh/2, words(fmt.Sprintf("%s: %d of %d tasks done", st.Name, st.Tasks.Done, st.Tasks.Total)))
	for i := range boxes {
		for _, need := range boxes[i].Needs {
			kind, of := divide(need)
			if k := slices.IndexFunc(boxes, func(o box) bool { return o.Name == of }); k >= 0 {
				arc(&b, &boxes[k], &boxes[i], kind)
			}
		}
	}
	for i := range boxes {
		boxes[i].draw(&b)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// arrange gives each stage its place: to the right of those that it reads. The gap before a level is as wide as what
// is said at the arrows that end there.
func arrange(stages []message.StageStatus) (boxes []box, right, rows int) {
	used, gap := map[int]int{}, map[int]int{} // rows, and pixels, by level
	for i := range stages[:min(len(stages), task.MaxStages)] {
		b := box{StageStatus: &stages[i]}
		for _, need := range b.Needs {
			_, of := divide(need)
			if k := slices.IndexFunc(boxes, func(o box) bool { return o.Name == of }); k >= 0 {
				b.level = max(b.level, boxes[k].level+1)
			}
		}
		for _, need := range b.Needs {
			kind, _ := divide(need)
			said := letterWide*utf8.RuneCountInString(task.Printable(kind, mostText)) + 2*letterWide
			gap[b.level] = max(gap[b.level], gapWide, said)
		}
		b.row = used[b.level]
		used[b.level]++
		rows = max(rows, b.row+1)
		boxes = append(boxes, b)
	}
	right = graphMargin
	for level := range len(used) {
		if level > 0 {
			right += max(gapWide, gap[level])
		}
		for i := range boxes {
			if boxes[i].level == level {
				boxes[i].x, boxes[i].gap = right, gap[level]
			}
		}
		right += boxWide
	}
	return boxes, right, rows
}

// divide divides a need, such as "by region of clean", into how it is and the stage.
func divide(need string) (kind, of string) {
	at := strings.LastIndexByte(need, ' ')
	return strings.TrimSuffix(need[:max(at, 0)], " of"), need[at+1:]
}

// arc draws that one stage reads another.
func arc(b *strings.Builder, from, to *box, kind string) {
	x1, y1, x2, y2 := from.x+boxWide, from.y()+boxHigh/2, to.x, to.y()+boxHigh/2
	fmt.Fprintf(b, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="#555" marker-end="url(#a)"/>`+"\n", x1, y1,
		x1+curve, y1, x2-curve, y2, x2, y2)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="#555" font-size="10">%s</text>`+"\n",
		x2-to.gap/2, (y1+y2)/2-barHigh/2, words(kind))
}

// draw draws a stage: its name, how far it is, and a bar.
func (b *box) draw(out *strings.Builder) {
	x, y := b.x, b.y()
	fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="#f7f7f7" stroke="#888"/>`+"\n",
		x, y, boxWide,
		boxHigh)
	fmt.Fprintf(out, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", x+barHigh, y+lineHigh, words(b.Name))
	count := fmt.Sprintf("%d of %d done", b.Done, b.Tasks)
	if b.Failed > 0 {
		count += fmt.Sprintf(", %d failed", b.Failed)
	}
	fmt.Fprintf(out, `<text x="%d" y="%d">%s</text>`+"\n", x+barHigh, y+2*lineHigh, words(count))
	room := float64(boxWide - 2*barHigh)
	done := room * min(1, float64(b.Done)/float64(max(1, b.Tasks)))
	failed := min(room-done, room*min(1, float64(b.Failed)/float64(max(1, b.Tasks))))
	at := float64(x + barHigh)
	for _, part := range []struct {
		wide  float64
		color string
	}{{room, "#ddd"}, {done, "#2a9d4a"}} {
		fmt.Fprintf(out, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n",
			at, y+boxHigh-2*barHigh, part.wide,
			barHigh, part.color)
	}
	if failed > 0 {
		fmt.Fprintf(out, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#c1272d"/>`+"\n", at+done, y+boxHigh-2*barHigh,
			failed, barHigh)
	}
}

// words are text for a picture: a name may be long, and have anything in it.
func words(s string) string {
	return html.EscapeString(task.Printable(s, mostText))
}
