package sim

import (
	"math"
	"strings"
	"time"

	"godwit/scheduler/place"
	"godwit/task"
	"godwit/trace"
)

// A crowd is the hosts of a run and all tasks in it.
type crowd struct {
	hosts   []simHost
	records []hostRecord // of hosts
	names   string       // of hosts, one after the other
	tasks   tasks
}

// A simHost is a host of the trace.
//
// Its two clocks run while its tasks do: of the work, in nanoseconds on the
// reference core, and of the host's time that each running task got. They start
// again from 0 when the last task ends, so that whole nanoseconds stay exact.
//
// It is as long as two lines of the processor's cache, because getting them is
// most of what an event costs when hosts are many; what is used less is in its
// hostRecord.
type simHost struct {
	last      int64   // up to when the clocks and the tally are right
	workClock float64 // of each running task
	timeClock float64
	workRate  float64 // by nanosecond, while it runs tasks
	timeRate  float64
	wants     int64 // when its timer should fire
	armed     int64 // its earliest timer on the agenda
	graceEnd  int64 // of those suspended
	root      int32 // heap of the running
	running   int32
	load      int32 // tasks given to it and not known to be over
	epoch     int32 // counts the times that its tasks had to go
	tasks     line  // there, linked by hnext and hprev: running, queued, doomed
	queue     line  // those of them that wait for a slot
	memory    int64 // spoken for
	speed     float64
	since     int64 // when it came
	spell     int32 // of history, that holds
	state     trace.State
	gone      bool // its tasks are lost
	unseen    bool // and nobody knows yet
	touched   bool
}

// A hostRecord is what is looked at only when a host changes.
type hostRecord struct {
	history *trace.History
	ghz     float64
	share   float64 // of the processors, from the trace
}

// forever is a time that does not come.
const never64 = math.MaxInt64

// peer is the name of a host. It reads no memory.
func (c *crowd) peer(i int32) task.PeerID {
	return task.PeerID(c.names[int(i)*peerSize : (int(i)+1)*peerSize])
}

// shape is a task as policies see it: with its whole work, and what is left of it
// from the last checkpoint that all can get.
func (c *crowd) shape(k int32) place.Task {
	t := &c.tasks.slots[k]
	left := t.work
	if t.saved > 0 && t.savedHost == none {
		left -= t.saved
	}
	return place.Task{
		ID: task.TaskID{Job: jobName, Index: t.id}, Memory: t.memory, Work: time.Duration(t.work),
		Left: time.Duration(left), State: t.state,
	}
}

// jobName is the job of all simulated tasks: their numbers tell them apart.
const jobName task.JobID = "sim"

// peersOf is the names of the first n hosts, one after the other.
func peersOf(n int) string {
	var b strings.Builder
	b.Grow(n * peerSize)
	for i := range n {
		b.WriteString(string(peerOf(i)))
	}
	return b.String()
}

// slack is what rounding may put on top of a time, in nanoseconds.
const slack = 1e-3

// onNotice says whether a host is there and takes no guests, or none any more:
// it goes, or its owner has it.
func (h *simHost) onNotice() bool { return !h.gone && h.state != trace.Available }

// seems is a host as migration policies that name tasks see it: one that vanished
// and is not missed is there, as it was.
func (h *simHost) seems() bool { return h.unseen || h.state == trace.Available }

// suspends says whether the owner has the host in a state.
func suspends(s trace.State) bool { return s == trace.UserPresent || s == trace.CPUBusy }

// there says whether a host is, as far as the scheduler knows, there for tasks.
func there(h *simHost) bool {
	return h.unseen || !h.gone && h.state == trace.Available && h.speed > 0
}
