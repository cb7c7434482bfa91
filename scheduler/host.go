package scheduler

import (
	"time"

	"godwit/overlay"
	"godwit/scheduler/learning"
	"godwit/task"
)

// A host is a member as the coordinator sees it. It is eligible for work when
// it has an advert, which gives memory and speed, and has reported, which
// gives slots and shows that it obeys this coordinator.
type host struct {
	peer     task.PeerID
	member   bool
	reported bool
	born     int64 // its last Report.Born; 0 before the first
	state    overlay.State
	claim    claim
	slots    int // of those that it claims, those that count
	memory   int64
	speed    float64   // likewise
	withheld int       // percent of its CPU that tasks do not get
	site     string    // group of members that it says it belongs to; "" for none
	since    time.Time // member without a break
	hands    bool      // its worker hands tasks over while they run, and takes them
	alarm    time.Time // earliest reminder set and not yet gone off; zero for none

	bookings
	absence
	exclusions
	standing

	touched bool // in dispatch.touched
	sets    [hostSets]setPlace
	stays   staying // what was forecast in this round
}

// bookings are what a host was given. leases are those given and not ended, in the order
// given. load counts those that are not merely waiting for their outputs to be fetched, and
// memoryUsed is what the jobs of these may need.
type bookings struct {
	leases     []*lease
	load       int
	memoryUsed int64
	recalls    int // of leases, those asked back
	ahead      int // of leases, those that wait for a slot there
	// coming are the leases of other hosts that are to move here: load and
	// memoryUsed count them too.
	coming []*lease
}

// An absence is how far a host is not there for tasks.
type absence struct {
	notice  bool          // it has given notice
	leaves  bool          // of that, as one that goes: no task may stay for its owner's sake
	still   time.Time     // since when its owner has what it runs stand still; zero if not
	stood   time.Duration // how long that was so before, in all
	lost    time.Time     // when the connection broke; zero while it is there
	lostWhy string
}

// exclusions are what a host gets nothing of for now.
type exclusions struct {
	paused   map[*job]pause
	shunned  map[*learning.Class]time.Time // until when
	denied   *job                          // in this round, by the policy of chunks; nil for none
	portions map[*job]*portion             // of chunks; see chunks.go
	proven   provenWrong                   // of all
}

// A standing is what a host was counted as when it was last looked at.
type standing struct {
	settled room // at the last settleHost
	// there says that it counts as a member that runs tasks, and idleSince since when
	// it has a slot free, while it has one.
	there     bool
	idleSince time.Time
	// behind is the time, in seconds, that its tasks took at the round behindAt.
	behind   float64
	behindAt uint64
	counted  counted
}

// A room is what a host has to give, as far as recall goes by it.
type room struct {
	idle        bool
	slots, load int
	memory      int64
}

type pause struct {
	until time.Time
	why   string
	shut  bool // it was made while the host took nothing, and ends when it takes tasks again
}

// usual is a host's speed when its owner leaves it all to tasks.
func (h *host) usual() float64 {
	if h.speed > 0 {
		return h.speed
	}
	return 1
}

// speedNow is the speed that a host gives tasks now.
func (h *host) speedNow() float64 {
	if !h.lost.IsZero() || h.slots == 0 {
		return 0
	}
	return h.usual() * float64(100-h.withheld) / 100
}

// standsStill notes since when what the host runs is stopped by its owner.
func (h *host) standsStill(now time.Time) {
	switch still := h.slots == 0 && h.state != overlay.Leaving && h.state != overlay.Available; {
	case !still:
		h.stood, h.still = h.stoodBy(now), time.Time{}
	case h.still.IsZero():
		h.still = now
	}
}

// stoodBy is how long what the host runs was stopped by its owner, in all, until then.
func (h *host) stoodBy(at time.Time) time.Duration {
	if h.still.IsZero() || !at.After(h.still) {
		return h.stood
	}
	return h.stood + at.Sub(h.still)
}

// shut reports whether the host takes nothing, by its owner's word or its own.
func (h *host) shut() bool { return h.slots == 0 || h.onNotice() }

// keptFrom reports whether the host gets nothing of a job for now.
func (h *host) keptFrom(j *job) bool {
	_, paused := h.paused[j]
	return paused || h.denied == j
}

func (h *host) eligible() bool {
	going := h.state == overlay.Leaving || h.state == overlay.Unavailable
	return h.member && h.reported && h.lost.IsZero() && !going && h.slots > 0 && !h.proven.is()
}

// onNotice reports whether the member goes soon, or takes no guests any more.
func (h *host) onNotice() bool {
	switch h.state {
	case overlay.Leaving, overlay.Unavailable:
		return true
	case overlay.Available:
		return false
	}
	return h.slots == 0
}

// visited reports whether only the member's owner is back: it says that it goes when
// his grace is over.
func (h *host) visited() bool { return h.state == overlay.UserPresent || h.state == overlay.CPUBusy }

// suits reports whether the host may be given tasks of the job, had it room.
func (h *host) suits(j *job) bool {
	_, paused := h.paused[j]
	return !paused && h.memory >= leastMemory(j.spec)
}
