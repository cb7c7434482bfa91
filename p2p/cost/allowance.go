package cost

import (
	"time"

	"golang.org/x/time/rate"
)

// A Class is what a peer is to this node.
type Class int

// The classes of peers, each with more than the one before.
const (
	// Stranger is a peer that is in no overlay of this node, as far as the node knows.
	Stranger Class = iota
	// Member is in one of this node's overlays. In an open one everybody may be.
	Member
	// Worker is a member that holds leases of this node, or is at the other end of its own.
	Worker
	// Coordinator is a member of the group of an overlay that this node is in. It is kept
	// connected.
	Coordinator
)

// works reports whether the node works with peers of the class.
func (c Class) works() bool { return c >= Worker }

// A Kind is one of the things that peers cost.
type Kind int

// What peers cost, and the unit of each.
const (
	Messages Kind = iota // bytes of frames and requests
	Answers              // bytes of answers to requests
	Decoding             // microseconds
	Loop                 // microseconds of the node's loop
	Requests             // one each
	Urgent               // one each: requests that go ahead of all others
	Blocks               // bytes of blocks that the node serves
	Circuits             // one each: reservations with this node as a relay, and circuits
	refusals             // one each: what was refused because a budget was spent
	kinds
)

// Micros is how a time is counted.
func Micros(d time.Duration) int { return int(max(0, d.Microseconds())) }

// An allowance is what a token bucket allows.
type allowance struct {
	perSecond rate.Limit
	burst     int
}

const (
	kib = 1 << 10
	mib = 1 << 20

	millisecond = 1000 // of time, in microseconds
	second      = 1000 * millisecond
)

// perPeer is what one peer may cost.
//
// Of a stranger no honest message is large but a job's record, of 2 MiB at most, now and
// then: its burst holds the two largest frames, and 256 KiB a second bring one in 16 s, in
// time for its deadline. A twentieth of the loop, and of a core to decode, is fifty times
// what reports of an idle worker take. Asking the leader for all there is, once a second on
// a screen, is four requests. A member fetches inputs and results from whoever has them: a
// gigabyte at once, then 32 MiB a second, a fast home line. Answers have a budget beside
// that of messages: a submitter whose program looks at a job of 4,000 tasks gets 2.9 MB each
// time, and what it says of the job's results does not wait for that.
//
// Those that the node works with it needs: the bounds are above what a follower's or a
// worker's most work was measured to be, and are there for faults.
var perPeer = [...][kinds]allowance{
	Stranger: {
		Messages: {256 * kib, 8 * mib}, Answers: {256 * kib, 8 * mib},
		Decoding: {50 * millisecond, second}, Loop: {50 * millisecond, second},
		Requests: {10, 40}, Urgent: {4, 16}, Blocks: {mib, 16 * mib}, Circuits: {0.1, 16}, refusals: {1, 200},
	},
	Member: {
		Messages: {256 * kib, 8 * mib}, Answers: {256 * kib, 8 * mib},
		Decoding: {50 * millisecond, second}, Loop: {50 * millisecond, second},
		Requests: {10, 40}, Urgent: {10, 40}, Blocks: {32 * mib, 1024 * mib}, Circuits: {0.1, 16}, refusals: {1, 200},
	},
	Worker: {
		Messages: {64 * mib, 128 * mib}, Answers: {64 * mib, 128 * mib},
		Decoding: {second, 10 * second}, Loop: {second, 10 * second},
		Requests: {200, 1000}, Urgent: {20, 80}, Blocks: {rate.Inf, mib}, Circuits: {1, 64}, refusals: {10, 1000},
	},
	Coordinator: {
		Messages: {rate.Inf, mib}, Answers: {rate.Inf, mib},
		Decoding: {rate.Inf, second}, Loop: {rate.Inf, second},
		Requests: {200, 1000}, Urgent: {20, 80}, Blocks: {rate.Inf, mib}, Circuits: {1, 64}, refusals: {10, 1000},
	},
}

// together is what all peers that the node does not work with may cost, so that most of the
// loop and of a core are left to the others, however many names a stranger has. Requests
// that go ahead take no more than a sixth of the loop at half a millisecond each.
var together = [kinds]allowance{
	Messages: {4 * mib, 32 * mib}, Answers: {4 * mib, 32 * mib},
	Decoding: {300 * millisecond, 2 * second}, Loop: {300 * millisecond, 2 * second},
	Requests: {200, 800}, Urgent: {300, 600}, Blocks: {128 * mib, 4096 * mib}, Circuits: {2, 128},
	refusals: {rate.Inf, 1},
}
