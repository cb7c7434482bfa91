package sim

// none is no task or no host.
const none int32 = -1

// A phase of a task's life.
const (
	taskFree    uint8 = iota // no task: the slot of one that is over
	taskWaiting              // in the queue
	taskSent                 // on its way to a host: there a place is kept for it
	taskQueued               // at its host, for a slot
	taskRunning              // at its host, which may stand still
	taskDoomed               // its host is gone, and nobody knows yet
	taskEnded                // and nobody knows yet
	taskVoid                 // on its way or at a host that is gone, and another run of its task ended first
)

// A simTask is a task in the system.
//
// Host time that went into it is booked when it stops running: what a result or
// a checkpoint holds is kept in savedTime and extra, the rest is wasted at once.
type simTask struct {
	id            uint64 // in the order of arrival
	arrived       int64
	placed        int64 // first time; -1 before
	work          int64 // on the reference core, in nanoseconds
	memory, state int64
	class         int32
	status        uint8
	early         bool // first placed in the warm-up: in no count
	onSaved       bool // the present run goes on from saved

	saved     int64   // work that the last checkpoint holds
	savedTime float64 // host time that went into that
	savedHost int32   // the only host that has it; none: all can get it
	from      int64   // work done when the present run began
	extra     float64 // host time in from beyond savedTime

	every  int64 // of the present run: the work between its checkpoints; 0 none
	copied int64 // when the copy of its state for a move will be there, while it runs on

	host  int32 // where it is or goes
	epoch int32 // of host when it was sent there
	passage

	begunWork float64 // of the host's clocks when the present run began
	begunTime float64
	endWork   float64 // of the host's clock when it will end

	pair
	links
}

// A pair is two runs of one task.
type pair struct {
	twin   int32 // the other run; none
	second bool  // this one is the copy
}

// A passage is a task's way from one host to another.
type passage struct {
	origin int32 // whence it moves; none, or fromStore
	away   int32 // epoch of origin when it left
	to     int32 // where it is being copied to, and keeps a place; none
	toward int32 // epoch of to when the copy began
}

// links are a task's places in lists and heaps of tasks.
type links struct {
	next, prev   int32 // in the queue, or in the host's
	hnext, hprev int32 // of the tasks at the host
	child, sib   int32 // in the heap of those that run there
}

// tasks has all tasks in the system, in slots that are used again.
type tasks struct {
	slots []simTask
	free  int32 // list by next
}

func (ts *tasks) take() int32 {
	if i := ts.free; i != none {
		ts.free = ts.slots[i].next
		return i
	}
	ts.slots = append(ts.slots, simTask{})
	return int32(len(ts.slots) - 1)
}

func (ts *tasks) release(i int32) {
	t := &ts.slots[i]
	t.status, t.next = taskFree, ts.free
	ts.free = i
}

// A line is a queue of tasks, linked by next and prev.
type line struct{ head, tail int32 }

func (l *line) push(ts *tasks, i int32) {
	t := &ts.slots[i]
	t.next, t.prev = none, l.tail
	if l.tail == none {
		l.head = i
	} else {
		ts.slots[l.tail].next = i
	}
	l.tail = i
}

// insert puts a task before those that came later.
func (l *line) insert(ts *tasks, i int32) {
	after, t := l.tail, &ts.slots[i]
	for after != none && ts.slots[after].id > t.id {
		after = ts.slots[after].prev
	}
	t.prev, t.next = after, l.head
	if after == none {
		l.head = i
	} else {
		t.next = ts.slots[after].next
		ts.slots[after].next = i
	}
	if t.next == none {
		l.tail = i
	} else {
		ts.slots[t.next].prev = i
	}
}

func (l *line) remove(ts *tasks, i int32) {
	t := &ts.slots[i]
	if t.prev == none {
		l.head = t.next
	} else {
		ts.slots[t.prev].next = t.next
	}
	if t.next == none {
		l.tail = t.prev
	} else {
		ts.slots[t.next].prev = t.prev
	}
}
