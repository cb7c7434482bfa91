package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/lab/progress"
	"godwit/lab/view"
	"godwit/scheduler"
)

func TestWatchLine(t *testing.T) {
	v := &runWatch{head: func() string { return "3 of 3 nodes up" }}
	for name, test := range map[string]struct {
		s    *scheduler.Scheduling
		want string
	}{
		"nobody leads": {nil, "3 of 3 nodes up; nobody leads at the moment"},
		"nothing to do": {&scheduler.Scheduling{Members: []scheduler.MemberStatus{{There: true}, {There: true}, {}}},
			"3 of 3 nodes up; 0 tasks wait, 0 with members, of which 2 are idle"},
		"busy": {&scheduler.Scheduling{Waiting: 7, Running: 2,
			Classes:    []scheduler.ClassStatus{{Class: "a", Waiting: 4}, {Class: "b"}, {Waiting: 3}},
			Members:    []scheduler.MemberStatus{{There: true, Load: 2}, {There: true}},
			Allocation: &scheduler.AllocationView{Load: .6734}},
			"3 of 3 nodes up; 7 tasks wait (a 4, (none) 3), 2 with members, of which 1 are idle; ideal load 67%"},
	} {
		if got := v.line(test.s); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

// TestWatchPaces: a terminal is shown a screen each second, a file a line each five, and
// who wants quiet nothing.
func TestWatchPaces(t *testing.T) {
	for name, test := range map[string]struct {
		terminal, quiet bool
		want            int // heads in 20.5 s
	}{
		"terminal": {terminal: true, want: 20},
		"file":     {want: 4},
		"quiet":    {terminal: true, quiet: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			v := &runWatch{p: &progress.Progress{Out: &out, Quiet: test.quiet, Terminal: test.terminal},
				dirs: func() []string { return nil }, head: func() string { return "HEAD" }}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second+500*time.Millisecond)
			defer cancel()
			v.run(ctx)
			if got := strings.Count(out.String(), "HEAD"); got != test.want {
				t.Errorf("%s: it was shown %d times, want %d", name, got, test.want)
			}
			if got := strings.Count(out.String(), view.ClearScreen) > 0; got != (test.terminal && !test.quiet) {
				t.Errorf("%s: the screen was cleared: %v", name, got)
			}
		})
	}
}
