package testbed

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
	v := &Watch{Head: func() string { return "3 of 3 nodes up" }}
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
			v := &Watch{Progress: &progress.Progress{Out: &out, Quiet: test.quiet, Terminal: test.terminal},
				Dirs: func() []string { return nil }, Head: func() string { return "HEAD" }}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second+500*time.Millisecond)
			defer cancel()
			v.Run(ctx)
			if got := strings.Count(out.String(), "HEAD"); got != test.want {
				t.Errorf("%s: it was shown %d times, want %d", name, got, test.want)
			}
			if got := strings.Count(out.String(), view.ClearScreen) > 0; got != (test.terminal && !test.quiet) {
				t.Errorf("%s: the screen was cleared: %v", name, got)
			}
		})
	}
}
