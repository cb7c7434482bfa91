// Package timeline tells and draws where the tasks of a job ran, and why they moved.
package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/lab/table"
	"godwit/scheduler/message"
	"godwit/task"
)

// A stint is one attempt of a task as a timeline has it: where it ran, from when to
// when, and how that ended.
type stint struct {
	Task    uint64      `json:"task"`
	Attempt int         `json:"attempt"` // of those known of the task, from 1
	Peer    task.PeerID `json:"peer"`
	Start   time.Time   `json:"start"`
	End     time.Time   `json:"end,omitzero"` // absent while it runs
	Outcome string      `json:"outcome"`      // "running" while it does
	// Resumed says that it went on from a checkpoint, which spared SavedS seconds of
	// CPU time.
	Resumed bool    `json:"resumed,omitempty"`
	SavedS  float64 `json:"saved_cpu_s,omitempty"`
	// WaitedS is how many seconds after the end of the attempt before it began.
	WaitedS float64 `json:"waited_s,omitempty"`
	// MovedTo is where its task went on; StillS for how many seconds, up to End, it
	// stood still for that, and MovedBytes what the network carried, where known.
	MovedTo    task.PeerID `json:"moved_to,omitempty"`
	StillS     float64     `json:"still_s,omitempty"`
	MovedBytes int64       `json:"moved_bytes,omitempty"`
	Reason     string      `json:"reason,omitempty"`
}

// outcomeRunning is of a stint that has no end.
const outcomeRunning = "running"

// Of lists the attempts of tasks, task by task, in the order of time.
func Of(tasks []message.TaskStatus) []stint {
	out := []stint{}
	for _, t := range tasks {
		attempts := slices.Clone(t.Attempts)
		slices.SortStableFunc(attempts, func(a, b message.AttemptStatus) int { return a.Start.Compare(b.Start) })
		var ended time.Time
		for k, a := range attempts {
			s := stint{
				Task: t.Index, Attempt: k + 1, Peer: a.Worker, Start: a.Start, End: a.End,
				Outcome: cmp.Or(a.Outcome, outcomeRunning),
				Resumed: a.FromCheckpoint, SavedS: a.SavedCPU, MovedTo: a.MovedTo, StillS: a.DownS, MovedBytes: a.MovedBytes,
				Reason: a.Reason,
			}
			if !ended.IsZero() && a.Start.After(ended) {
				s.WaitedS = a.Start.Sub(ended).Seconds()
			}
			ended = a.End
			out = append(out, s)
		}
	}
	return out
}

// A happening is something that happened to a task, for people.
type happening struct {
	at   time.Time
	what string
}

// happenings tells the story of one task from its stints.
func happenings(stints []stint) (out []happening) {
	for k, s := range stints {
		out = append(out, happening{s.Start, began(stints, k)})
		switch {
		case s.End.IsZero():
			continue
		case s.MovedTo == "":
			out = append(out, happening{s.End, s.Outcome + table.Because(s.Reason)})
		case s.StillS > 0:
			out = append(out, happening{s.End.Add(-time.Duration(s.StillS * float64(time.Second))), "froze, to move to " +
				table.ShortPeer(s.MovedTo) + table.Because(s.Reason)})
		default:
			out = append(out, happening{s.End, "moved to " + table.ShortPeer(s.MovedTo) + table.Because(s.Reason)})
		}
	}
	slices.SortStableFunc(out, func(a, b happening) int { return a.at.Compare(b.at) })
	return out
}

// began says how the k-th stint of a task began.
func began(stints []stint, k int) string {
	s := &stints[k]
	var notes []string
	if s.Resumed {
		notes = append(notes, table.Seconds(s.SavedS)+" of CPU time saved")
	}
	from := movedTo(stints, k)
	if from != nil {
		if from.StillS > 0 {
			notes = append(notes, "stood still for "+table.Seconds(from.StillS))
		}
		if from.MovedBytes > 0 {
			notes = append(notes, task.FormatSize(from.MovedBytes)+" moved")
		}
	} else if s.WaitedS > 0 {
		notes = append(notes, "waited for "+table.Seconds(s.WaitedS))
	}
	what := "began on "
	if s.Resumed || from != nil {
		what = "went on on "
	}
	what += table.ShortPeer(s.Peer)
	if len(notes) > 0 {
		what += " (" + strings.Join(notes, ", ") + ")"
	}
	if s.End.IsZero() {
		what += table.Because(s.Reason)
	}
	return what
}

// movedTo is the stint that was moved to where the k-th is, or nil.
func movedTo(stints []stint, k int) *stint {
	for i := k - 1; i >= 0; i-- {
		if stints[i].MovedTo != "" {
			if stints[i].MovedTo == stints[k].Peer {
				return &stints[i]
			}
			return nil
		}
	}
	return nil
}

// since is a time as it is told, from the job's submission on.
func since(submitted, at time.Time) string {
	if d := at.Sub(submitted); d >= 0 {
		return "+" + table.Rough(d)
	}
	return table.Rough(at.Sub(submitted)) // the clocks of two nodes differ
}

// mostRows is how many tasks are listed of a job where not all are asked for: as
// many as a person reads, and a terminal shows.
const mostRows = 20

// worthTelling leaves, of more tasks than mostRows, those that have a story: that
// did not run in one piece to their end, or left an output out. left says in a line what the others are;
// "" if there are none.
func worthTelling(tasks []message.TaskStatus) (shown []message.TaskStatus, left string) {
	if len(tasks) <= mostRows {
		return tasks, ""
	}
	rest := map[string]int{}
	for _, t := range tasks {
		plain := t.State == "done" && (len(t.Attempts) == 1 || t.From != nil) && t.Standing != message.StandingDoubted &&
			t.Standing != message.StandingReplaced && len(t.Missing) == 0
		if !plain && len(shown) < mostRows {
			shown = append(shown, t)
			continue
		}
		state := t.State
		switch {
		case t.From != nil:
			state = "taken from other jobs"
		case plain:
			state = "done in one piece"
		case len(t.Missing) > 0:
			state = "done without all outputs"
		}
		rest[state]++
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(rest)) {
		parts = append(parts, fmt.Sprintf("%d %s", rest[state], state))
	}
	return shown, fmt.Sprintf("%d more tasks: %s; --tasks lists all, --task N one", len(tasks)-len(shown),
		strings.Join(parts, ", "))
}
