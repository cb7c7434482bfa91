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
	slots    int
	memory   int64
	speed    float64
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
