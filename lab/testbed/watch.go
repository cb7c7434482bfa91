package testbed

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"godwit/api"
	"godwit/lab/progress"
	"godwit/lab/testbed/clock"
	"godwit/lab/view"
	"godwit/scheduler"
)

// A Watch shows how a run of nodes goes while it lasts: on a terminal all of how
// the leader schedules, anew each second; elsewhere a line each progress.PlainEvery; nothing if
// the progress is quiet. What it asks is what `godwit overlay watch` asks.
type Watch struct {
	Progress *progress.Progress
	// Overlay names the run's overlay to its nodes; "" is the one that all serve.
	Overlay string
	// Dirs are the data directories of the nodes that are up now; any of them is asked.
	// head is a line on what only the run's driver knows. Both may be called at any time.
	Dirs func() []string
	Head func() string
}

// Run shows until ctx ends, and then leaves what was shown last.
func (v *Watch) Run(ctx context.Context) {
	if v.Progress.Quiet {
		return
	}
	every := progress.PlainEvery
	if v.Progress.Terminal {
		every = view.Every
	}
	for at := time.Now().Add(every); clock.SleepUntil(ctx, at); at = time.Now().Add(every) {
		s := v.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		if !v.Progress.Terminal {
			v.Progress.Note("%s", v.line(s))
			continue
		}
		var b strings.Builder
		b.WriteString(view.ClearScreen)
		v.screen(&b, s)
		io.WriteString(v.Progress.Out, b.String()) // who reads it may have gone
	}
}

// ask asks the nodes, one after another, until one answers; nil if none does: nodes
// come and go, and while nobody leads there is nothing to tell.
func (v *Watch) ask(ctx context.Context) *scheduler.Scheduling {
	ctx, cancel := context.WithTimeout(ctx, view.Every)
	defer cancel()
	for _, dir := range v.Dirs() {
		if s, err := v.askOne(ctx, dir); err == nil {
			return s
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

func (v *Watch) askOne(ctx context.Context, dir string) (*scheduler.Scheduling, error) {
	client := api.Dial(dir)
	defer client.Close()
	ref := v.Overlay
	if ref == "" {
		st, err := client.Status(ctx)
		if err != nil {
			return nil, err
		}
		if len(st.Overlays) == 0 {
			return nil, fmt.Errorf("the node in %s serves no overlay", dir)
		}
		ref = string(st.Overlays[0].ID)
	}
	s, err := client.Scheduling(ctx, ref)
	return &s, err
}

// nobodyLeads stands for the leader's view where there is none.
const nobodyLeads = "nobody leads at the moment"

// screen is what a terminal shows.
func (v *Watch) screen(w io.Writer, s *scheduler.Scheduling) {
	fmt.Fprintln(w, v.Head())
	if s == nil {
		fmt.Fprintln(w, nobodyLeads)
		return
	}
	view.Scheduling(w, s)
}

// line is the same in short: what waits by class, and how busy the members are.
func (v *Watch) line(s *scheduler.Scheduling) string {
	if s == nil {
		return v.Head() + "; " + nobodyLeads
	}
	var waiting []string
	for i := range s.Classes {
		if k := &s.Classes[i]; k.Waiting > 0 {
			waiting = append(waiting, fmt.Sprintf("%s %d", view.ClassText(k.Class), k.Waiting))
		}
	}
	out := fmt.Sprintf("%s; %d tasks wait", v.Head(), s.Waiting)
	if len(waiting) > 0 {
		out += " (" + strings.Join(waiting, ", ") + ")"
	}
	idle := 0
	for i := range s.Members {
		if m := &s.Members[i]; m.There && m.Load == 0 {
			idle++
		}
	}
	out += fmt.Sprintf(", %d with members, of which %d are idle", s.Running, idle)
	if a := s.Allocation; a != nil && a.Error == "" && a.Load > 0 {
		out += fmt.Sprintf("; ideal load %.0f%%", 100*a.Load)
	}
	return out
}
