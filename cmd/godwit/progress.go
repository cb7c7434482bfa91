package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"godwit/scheduler/message"
)

const (
	barWidth = 30
	// plainEvery is how often a line is written where there is no terminal.
	plainEvery = 5 * time.Second
	// eraseLine returns to the line's start and clears it (ECMA-48).
	eraseLine = "\r\x1b[K"
)

// A progress shows how a job goes: a bar on a terminal, plain lines elsewhere.
type progress struct {
	w        io.Writer
	quiet    bool
	terminal bool
	begun    time.Time
	last     time.Time
	drawn    bool
}

func newProgress(w io.Writer, quiet bool) *progress {
	return &progress{w: w, quiet: quiet, terminal: isTerminal(w), begun: time.Now()}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// note writes a line of its own.
func (p *progress) note(format string, args ...any) {
	if p.quiet {
		return
	}
	p.done()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// show draws the job's status.
func (p *progress) show(st message.JobStatus) {
	if p.quiet {
		return
	}
	now := time.Now()
	ended := st.Final
	if !p.terminal && !ended && now.Sub(p.last) < plainEvery {
		return
	}
	p.last = now
	line := fmt.Sprintf("%d of %d done, %d running", st.Tasks.Done, st.Tasks.Total, st.Tasks.Running)
	if st.Tasks.Failed > 0 {
		line += fmt.Sprintf(", %d failed", st.Tasks.Failed)
	}
	line += ", " + rough(now.Sub(p.begun))
	if eta, ok := p.eta(st, now); ok {
		line += ", about " + rough(eta) + " to go"
	}
	if !p.terminal {
		fmt.Fprintln(p.w, line)
		return
	}
	fmt.Fprintf(p.w, "%s[%s] %s", eraseLine, bar(st), line)
	p.drawn = true
}

// done ends the bar's line.
func (p *progress) done() {
	if p.drawn {
		fmt.Fprintln(p.w)
		p.drawn = false
	}
}

func (p *progress) eta(st message.JobStatus, now time.Time) (time.Duration, bool) {
	left := st.Tasks.Waiting + st.Tasks.Running
	if st.Tasks.Done == 0 || left == 0 {
		return 0, false
	}
	each := float64(now.Sub(p.begun)) / float64(st.Tasks.Done)
	return time.Duration(each * float64(left)).Round(time.Second), true
}

func bar(st message.JobStatus) string {
	if st.Tasks.Total == 0 {
		return strings.Repeat(" ", barWidth)
	}
	full := int(float64(barWidth) * float64(st.Tasks.Done+st.Tasks.Failed) / float64(st.Tasks.Total))
	return strings.Repeat("=", full) + strings.Repeat(" ", barWidth-full)
}
