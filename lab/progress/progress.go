// Package progress shows a person how a job goes.
package progress

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"godwit/lab/screen"
	"godwit/lab/table"
	"godwit/scheduler/message"
)

const (
	// barWidth is the bar's where there is room, and leastBar where its text leaves less.
	barWidth, leastBar = 30, 10
	// PlainEvery is how often a line is written where there is no terminal.
	PlainEvery = 5 * time.Second
	// eraseLine returns to the line's start and clears it (ECMA-48).
	eraseLine = "\r\x1b[K"
)

// A Progress shows how a job goes: a bar on a terminal, plain lines elsewhere.
type Progress struct {
	Out      io.Writer
	Quiet    bool
	Terminal bool
	Painter  screen.Painter
	begun    time.Time
	last     time.Time
	drawn    bool

	// End says how long the job will take yet, in a few words; "" where nobody can say. It is asked every few seconds.
	// nil: what is left is divided by the rate.
	End   func() string
	asked time.Time
	toGo  string // what End said last

	Imports string // what becomes of inputs: "" is that they are stored
}

// AskEvery is how often End is asked: it takes the node some tens of milliseconds.
const AskEvery = 10 * time.Second

// New shows progress on w, from now on; nothing if quiet.
func New(w io.Writer, quiet bool) *Progress {
	return &Progress{Out: w, Quiet: quiet, Terminal: IsTerminal(w), Painter: screen.Painter(screen.Coloured(w)),
		begun: time.Now()}
}

// IsTerminal reports whether w is a terminal that can be drawn on.
func IsTerminal(w io.Writer) bool {
	return screen.IsTerminal(w)
}

// Note writes a line of its own.
func (p *Progress) Note(format string, args ...any) {
	if p.Quiet {
		return
	}
	p.Done()
	fmt.Fprintf(p.Out, format+"\n", args...)
}

// Show draws the job's status.
func (p *Progress) Show(st message.JobStatus) {
	if p.Quiet {
		return
	}
	now := time.Now()
	ended := st.Settled()
	if !p.Terminal && !ended && now.Sub(p.last) < PlainEvery {
		return
	}
	p.last = now
	line := fmt.Sprintf("%d of %d done, %d running", st.Tasks.Done, st.Tasks.Total, st.Tasks.Running)
	if st.Tasks.Failed > 0 {
		line += ", " + st.NotDone()
	}
	if c := st.Checks; c != nil {
		line += fmt.Sprintf(", %d checked, %d to check", c.Right+c.Wrong+c.Open, c.Due)
	}
	line += ", " + table.Rough(now.Sub(p.begun))
	line += p.left(st, now)
	if !p.Terminal {
		fmt.Fprintln(p.Out, line)
		return
	}
	p.draw(float64(st.Tasks.Done+st.Tasks.Failed)/float64(max(st.Tasks.Total, 1)), line, st.Tasks.Failed > 0)
}

// draw draws a bar that is full to a part, with a text, on one line of the terminal.
func (p *Progress) draw(full float64, text string, failed bool) {
	const frame = len("[] ") + 1 // the last column stays free: some terminals go on to the next line there
	columns, _ := screen.Size(p.Out)
	width := min(barWidth, max(leastBar, columns-frame-utf8.RuneCountInString(text)))
	colour := screen.Good
	if failed {
		colour = screen.Bad
	}
	done := int(float64(width) * min(max(full, 0), 1))
	line := "[" + p.Painter.Paint(colour, strings.Repeat("=", done)) + strings.Repeat(" ", width-done) + "] " + text
	fmt.Fprint(p.Out, eraseLine, screen.Cut(line, columns-1))
	p.drawn = true
}

// Done ends the bar's line.
func (p *Progress) Done() {
	if p.drawn {
		fmt.Fprintln(p.Out)
		p.drawn = false
	}
}

// Hide takes the bar away, so that something else can be written; the next Show draws it again.
func (p *Progress) Hide() {
	if p != nil && p.drawn {
		fmt.Fprint(p.Out, eraseLine)
		p.drawn = false
	}
}

// left tells how long it will take yet.
func (p *Progress) left(st message.JobStatus, now time.Time) string {
	if p.End != nil && !st.Settled() && now.Sub(p.asked) >= AskEvery {
		p.asked, p.toGo = now, ""
		if words := p.End(); words != "" {
			p.toGo = ", " + words
		}
	}
	if p.toGo != "" && !st.Settled() {
		return p.toGo
	}
	if eta, ok := p.eta(st, now); ok {
		return ", about " + table.Rough(eta) + " to go"
	}
	return ""
}

func (p *Progress) eta(st message.JobStatus, now time.Time) (time.Duration, bool) {
	left := st.Tasks.Waiting + st.Tasks.Running
	if st.Tasks.Done == 0 || left == 0 {
		return 0, false
	}
	each := float64(now.Sub(p.begun)) / float64(st.Tasks.Done)
	return time.Duration(each * float64(left)).Round(time.Second), true
}
