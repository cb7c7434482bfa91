package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"godwit/owner"
)

// wallsFor is how long what keeps tasks in holds for who only looks at a page: a kernel's walls change when it
// starts anew, and to find them out starts a process and runs a task.
const wallsFor = time.Hour

// wallsLookedAt is what a look at what keeps tasks in came to last. It is safe for concurrent use.
type wallsLookedAt struct {
	mu      sync.Mutex
	last    []owner.Finding
	at      time.Time // zero before the first look
	looking bool
}

// take keeps what a look came to at a time.
func (w *wallsLookedAt) take(found []owner.Finding, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.at, w.looking = slices.Clone(found), at, false
}

// known returns what the last look came to, and whether another is due, which the caller is to make then.
func (w *wallsLookedAt) known(now time.Time) (found []owner.Finding, due bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	due = !w.looking && (w.at.IsZero() || now.Sub(w.at) >= wallsFor)
	w.looking = w.looking || due
	return slices.Clone(w.last), due
}

// Sense is Examine for a page that is looked at again and again: what keeps tasks in is found out once an hour at
// most, beside the answer, which tells of the look before. Without one it says nothing of that.
func (n *Node) Sense(ctx context.Context) []owner.Finding {
	walls, due := n.walled.known(time.Now())
	if due && n.look(ctx, func() {
		n.spawn(func() { n.walled.take(n.exec.Runner.Walls(n.tasks), time.Now()) })
	}) != nil {
		n.walled.take(walls, time.Time{}) // nobody looks: who asks next may
	}
	return n.found(ctx, walls)
}

// Walled returns when it was last found out what keeps tasks in; zero for never.
func (n *Node) Walled() time.Time {
	n.walled.mu.Lock()
	defer n.walled.mu.Unlock()
	return n.walled.at
}
