package p2p

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"godwit/p2p/cost"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/peer"
)

// errDaySpent ends a circuit that would carry more than the owner gives away in a day.
var errDaySpent = errors.New("p2p: what this node carries in a day for those that it does not work with is spent")

const day = 24 * time.Hour

// A daily is what a node carries in a day for members that it does not work with, on circuits:
// bytes read from them and written to them. A day begins with the first byte after the last.
type daily struct {
	peers    *cost.Budgets
	circuits chan struct{} // holds a token for each that is open
	carried  atomic.Int64  // bytes, for anybody

	mu    sync.Mutex
	most  int64
	spent int64
	began time.Time
}

// SetRelayed bounds the bytes that the host carries in a day for members that it does not work
// with; 0 is none. It holds for circuits that are open too, and for the day under way.
func (d *daily) SetRelayed(perDay int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.most = perDay
}

// take takes n bytes that are carried for a peer. It reports false when they are not given.
func (d *daily) take(of peer.ID, n int, now time.Time) bool {
	if d.peers.Class(task.PeerID(of.String())) < cost.Worker && !d.spend(n, now) {
		return false
	}
	d.carried.Add(int64(n))
	return true
}

// spend takes n bytes of the day.
func (d *daily) spend(n int, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.roll(now)
	if d.spent+int64(n) > d.most {
		return false
	}
	d.spent += int64(n)
	return true
}

// carries reports whether something may be carried for one of some peers.
func (d *daily) carries(now time.Time, any ...peer.ID) bool {
	for _, p := range any {
		if d.peers.Class(task.PeerID(p.String())) >= cost.Worker {
			return true
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.roll(now)
	return d.spent < d.most
}

// roll begins a new day when the last is over; d.mu is held.
func (d *daily) roll(now time.Time) {
	if now.Sub(d.began) >= day {
		d.began, d.spent = now, 0
	}
}
