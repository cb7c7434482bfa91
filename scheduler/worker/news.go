package worker

import (
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// news is what the leader has not been told, and when it was told last.
type news struct {
	refusals []message.Refusal // to be sent with the next report
	unmoved  []message.Unmoved // likewise
	unsaid   bool              // a lease has a checkpoint that was not reported
	untold   int               // of the results, those since the last report
	toTell   time.Time         // until when they may be held back; zero for not at all
	lastEnd  time.Time         // when the last task ended
	greeted  bool              // the leader has acknowledged a report of ours
	urgent   bool              // a full report is due at once
	reported time.Time         // last full report
}

// mayWait notes a new result, and until when it may be held back: within of now at most.
func (n *news) mayWait(u *unacked, now time.Time, within time.Duration) {
	if n.untold++; n.untold > 1 && n.toTell.IsZero() {
		return // one before it may not wait
	}
	plain := u.ending.Result.Outcome == task.Completed && u.ending.Handed == nil && u.took == nil
	switch brisk := now.Before(n.lastEnd.Add(within)); {
	case !plain || !brisk:
		n.toTell = time.Time{}
	case n.untold == 1:
		n.toTell = now.Add(within)
	}
	n.lastEnd = now
}

// refuse has a lease that was not begun given back, not to be offered again before retry.
func (n *news) refuse(id task.TaskID, a message.Attempt, reason string, retry time.Duration) {
	n.refusals = append(n.refusals, message.Refusal{Task: id, Attempt: a, Reason: task.ClipMessage(reason),
		RetryAfter: retry})
}

// nextUnmoved returns the moves that came to nothing and are to be told now.
func (n *news) nextUnmoved() []message.Unmoved {
	k := min(len(n.unmoved), message.MaxMoves)
	out := n.unmoved[:k:k]
	n.unmoved = n.unmoved[k:]
	return out
}
