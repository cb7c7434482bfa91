package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"godwit/migrate"
	"godwit/scheduler/place"
	"godwit/task"
)

// A world is a run as it goes on: hosts with tasks, what waits for them, and the
// policies that bring both together.
type world struct {
	farm
	backlog
	placing
	moving

	scenario *Scenario
	source   *source
	next     arrival // that is on the agenda
	born     uint64  // tasks that arrived
	warmth   int64   // keeps what warm reads from being left out
	model    string
}

// rules are those of the scenario, with what Paper overrules.
type rules struct {
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
	situation      migrate.Situation // but for who waits
	cpuMatters     bool              // changes of the processors' share do
	inOrder        bool              // lost tasks go back before those that came later
	hopeless       bool              // no host ever comes
}

// A timeline is when a run is, and what happens next.
type timeline struct {
	start    time.Time
	now, end int64 // nanoseconds after start
	millis   int64 // start, since 1970
	rest     int64 // of start, nanoseconds beyond millis
	agenda   agenda
}

// A farm is the hosts at work, with the clock, the rules and the books: what happens
// there whoever placed the tasks.
type farm struct {
	rules
	timeline
	crowd
	offering
	tally        tally
	classes      *classes // nil: rates do not matter
	watch        func(Decision)
	saveForecast place.Forecast // of checkpoints that are automatic; else nil
	seer         *oracle        // the placement policy, if it is one
}

// A backlog is what waits, and how policies see it.
type backlog struct {
	queue     line
	waiting   int // in it
	view      view
	classView classView
	saturated bool   // a task always waits
	barred    []bool // saturated classes that no host could ever run, counted once
}

// placing is the placement policy and what it is asked with.
type placing struct {
	policy        place.Policy
	traits        place.Traits // of policy
	alike         bool         // hosts that are offered are, and the policy goes by their order then
	again         int64        // after which the policy is asked once more; 0 is never
	placeForecast place.Forecast
	placedAt      int64
	draws         *rand.PCG
	rng           *rand.Rand
	round         uint64
}

// moving is the migration policy and what it is asked with; mover is nil where
// nothing moves.
type moving struct {
	mover        migrate.Policy
	chooser      migrate.Mover  // the same, if it names tasks; else nil
	copier       migrate.Copier // nil: nothing is copied
	notices      notices
	judge        migrate.Judge
	moveForecast place.Forecast
	scans        uint64
	scanned      []migrate.Host
	scanTasks    []task.TaskID // of scanned, one host's after the other's
	scanRuns     []migrate.Run
	reasons      map[uint64]string // why tasks are being copied, for Watch
}

func (l *timeline) time() time.Time { return l.start.Add(time.Duration(l.now)) }

// since is a time as nanoseconds after Start, 0 at least.
func (l *timeline) since(t time.Time) int64 { return max(0, int64(t.Sub(l.start))) }

// sinceMillis is since of a time in milliseconds since 1970.
func (l *timeline) sinceMillis(t int64) int64 {
	d := t - l.millis
	switch {
	case d <= 0:
		return 0
	case d > math.MaxInt64/int64(time.Millisecond):
		return math.MaxInt64
	}
	return d*int64(time.Millisecond) - l.rest
}

// push puts an event on the agenda. After the end nothing happens, and at it
// only completions.
func (l *timeline) push(at int64, phase int64, kind int, index int32) {
	if at < l.end || at == l.end && phase == phaseEnds {
		l.agenda.push(event{at<<phaseBits | phase, uint64(kind)<<32 | uint64(uint32(index))})
	}
}

func (f *farm) decided(k int32, action string, host, from int32, reason string) {
	f.watch(Decision{At: f.time(), Task: f.tasks.slots[k].id, Action: action, Host: int(host), From: int(from),
		Reason: reason})
}

// Notices are those that notice-driven policies hear of.
type notices struct {
	// hosts are on notice and had tasks when they were looked at last; no host
	// that has tasks and is on notice is missing.
	hosts  hostSet
	driven bool // a scan follows a notice
	armed  bool // a reminder is on the agenda
}
