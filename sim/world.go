package sim

import (
	"math/rand/v2"
	"strings"
	"time"

	"godwit/migrate"
	"godwit/scheduler/place"
	"godwit/task"
)

// A world is a run as it goes on.
type world struct {
	scenario *Scenario
	start    time.Time
	now, end int64 // nanoseconds after start
	agenda   agenda
	hosts    []simHost
	records  []hostRecord // of hosts
	names    string       // of hosts, one after the other
	tasks    tasks
	source   *source
	next     arrival // that is on the agenda
	born     uint64  // tasks that arrived
	tally    tally
	warmth   int64 // keeps what warm reads from being left out

	// Of the scenario, with what Paper overrules.
	paper, requeue bool
	slots          int32
	perSlot        float64 // part of a host that a slot is
	ahead          int
	memory         int64
	sharing        Sharing
	speeds         Speeds
	owner          OwnerRule
	grace          int64
	network        Network
	saves          Checkpoints
	seed           uint64
	watch          func(Decision)
	situation      migrate.Situation // but for who waits
	cpuMatters     bool              // changes of the processors' share do
	hopeless       bool              // no host ever comes

	// Placement.
	policy        place.Policy
	traits        place.Traits // of policy
	again         int64        // after which the policy is asked once more; 0 is never
	placeForecast place.Forecast
	queue         line
	waiting       int // in it
	view          view
	roomy         hostSet // may be given tasks
	ranks         ranks
	touched       []int32
	widened       bool     // all that are roomy are offered next
	saturated     bool     // a task always waits
	classes       *classes // nil: rates do not matter
	classView     classView
	inOrder       bool // lost tasks go back before those that came later
	placedAt      int64
	offers        []place.Host
	offered       []int32 // their numbers
	heeded        int     // of offers, placed on in their order
	draws         *rand.PCG
	rng           *rand.Rand
	round         uint64
	barred        []bool // saturated classes that no host could ever run, counted once

	// Migration; mover is nil where nothing moves.
	mover        migrate.Policy
	chooser      migrate.Mover // the same, if it names tasks; else nil
	notices      notices
	judge        migrate.Judge
	moveForecast place.Forecast
	scans        uint64
	scanned      []migrate.Host
	scanTasks    []task.TaskID // of scanned, one host's after the other's
	scanRuns     []migrate.Run
	reasons      map[uint64]string // why tasks are being copied, for Watch
	model        string

	saveForecast place.Forecast // of checkpoints that are automatic; else nil
	seer         *oracle        // the placement policy, if it is one
}

func (w *world) time() time.Time { return w.start.Add(time.Duration(w.now)) }

// since is a time as nanoseconds after Start, 0 at least.
func (w *world) since(t time.Time) int64 { return max(0, int64(t.Sub(w.start))) }

// push puts an event on the agenda. After the end nothing happens, and at it
// only completions.
func (w *world) push(at int64, phase int64, kind int, index int32) {
	if at < w.end || at == w.end && phase == phaseEnds {
		w.agenda.push(event{at<<phaseBits | phase, uint64(kind)<<32 | uint64(uint32(index))})
	}
}

func (w *world) decided(k int32, action string, host, from int32, reason string) {
	w.watch(Decision{At: w.time(), Task: w.tasks.slots[k].id, Action: action, Host: int(host), From: int(from),
		Reason: reason})
}

// peersOf is the names of the first n hosts, one after the other.
func peersOf(n int) string {
	var b strings.Builder
	b.Grow(n * peerSize)
	for i := range n {
		b.WriteString(string(peerOf(i)))
	}
	return b.String()
}

// peer is the name of a host. It reads no memory.
func (w *world) peer(i int32) task.PeerID {
	return task.PeerID(w.names[int(i)*peerSize : (int(i)+1)*peerSize])
}

// Notices are those that notice-driven policies hear of.
type notices struct {
	// hosts are on notice and had tasks when they were looked at last; no host
	// that has tasks and is on notice is missing.
	hosts  hostSet
	driven bool // a scan follows a notice
	armed  bool // a reminder is on the agenda
}
