package place

// heads are the waiting tasks of a round, by class. A ClassQueue is asked for as
// few as are needed; of another queue so many are looked at that each of a few
// classes near its head is found. A policy keeps one for its memory.
type heads struct {
	queue   ClassQueue // nil: all that is looked at is in lines
	lines   []headLine // in the order in which classes settle ties
	known   int        // of lines, classes of the Rates; those after are others
	index   map[string]int
	names   []string // memory
	waiting int      // lines that may have a task
}

// A headLine is the waiting tasks of one class that were shown and not taken.
type headLine struct {
	class string
	tasks []Task // from from on
	from  int    // those before were taken
	ended bool   // none is left in the queue
}

const (
	// headsLook is how many tasks of a plain queue are looked at for each slot to
	// be filled, and headsLeast how many at least.
	headsLook, headsLeast = 4, 64
	// classLook is how many tasks of a class are looked at for one that a host may
	// run: those at the head may be too large for it, or not for it.
	classLook = 16
)

// begin takes a queue for so many slots to be filled, on hosts of which none has
// more memory. classes are those of the Rates, nil if there are none.
func (h *heads) begin(queue Queue, slots int, memory int64, classes []Class) {
	if h.index == nil {
		h.index = map[string]int{}
	}
	h.lines, h.queue = h.lines[:0], nil
	clear(h.index)
	for i := range classes {
		h.line(classes[i].Name)
	}
	h.known, h.waiting = len(h.lines), 0
	if q, ok := queue.(ClassQueue); ok {
		h.queue = q
		h.names = q.Waiting(h.names[:0])
		for _, class := range h.names {
			h.await(h.line(class))
		}
		return
	}
	for n := max(headsLook*slots, headsLeast); n > 0; n-- {
		t, ok := queue.Next()
		if !ok {
			return
		}
		if t.Memory > memory {
			queue.SkipJob()
			continue
		}
		l := h.line(t.Class)
		if len(l.tasks) == 0 {
			h.await(l)
		}
		l.tasks = append(l.tasks, t)
		l.ended = true
		if len(l.tasks) >= slots+classLook {
			queue.SkipJob()
		}
	}
}

// await notes that a line may have a task.
func (h *heads) await(l *headLine) {
	l.ended = false
	h.waiting++
}

// line is that of a class, made if there is none: an empty one.
func (h *heads) line(class string) *headLine {
	if i, ok := h.index[class]; ok {
		return &h.lines[i]
	}
	i := len(h.lines)
	h.index[class] = i
	if i < cap(h.lines) {
		h.lines = h.lines[:i+1]
	} else {
		h.lines = append(h.lines, headLine{})
	}
	l := &h.lines[i]
	l.class, l.tasks, l.from, l.ended = class, l.tasks[:0], 0, true
	return l
}

// first is the place in a line of the first task that a host may run, -1 if
// there is none.
func (h *heads) first(i int, host *Host) int {
	l := &h.lines[i]
	for k := l.from; k < l.from+classLook; k++ {
		if k == len(l.tasks) && !h.pull(l) {
			return -1
		}
		if host.Fits(&l.tasks[k]) {
			return k
		}
	}
	return -1
}

// pull gets one task more of a line.
func (h *heads) pull(l *headLine) bool {
	if l.ended || h.queue == nil {
		return false
	}
	t, ok := h.queue.NextOf(l.class)
	if !ok {
		l.ended = true
		if l.from == len(l.tasks) {
			h.waiting--
		}
		return false
	}
	l.tasks = append(l.tasks, t)
	return true
}

// take takes a task out of its line.
func (h *heads) take(i, k int) Task {
	l := &h.lines[i]
	t := l.tasks[k]
	copy(l.tasks[l.from+1:k+1], l.tasks[l.from:k]) // at most classLook move
	l.from++
	if l.from == len(l.tasks) && l.ended {
		h.waiting--
	}
	return t
}
