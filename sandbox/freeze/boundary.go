package freeze

import "context"

// A boundary is the first poll at or after a multiple of a spacing in fuel: a place that is the same on every machine.
// The guest is stopped there for as long as it takes to look at its state, and goes on.

// boundaries says where the guest comes to the next. The control's lock guards it.
type boundaries struct {
	spacing uint64
	next    uint64 // a multiple of it; 0 for none
	do      func(context.Context, *Machine) error
}

// NoteEvery has do called, on the goroutine that runs the guest, with the guest stopped at the first poll at or after
// each multiple of so much fuel, from the next on; then the guest goes on. One poll may be the first after several
// multiples: do is called once. Where the guest cannot be unwound (see ErrNoRoom) there is no call. 0 ends it. An error
// ends the run. It must be called before the guest runs, or while it is stopped, as it is in do.
func (m *Machine) NoteEvery(fuel uint64, do func(context.Context, *Machine) error) {
	m.control.set(func(c *control) {
		c.bounds = boundaries{spacing: fuel, do: do}
		c.bounds.pass(c.used.Load())
	})
}

// pass sets the next boundary behind what is used.
func (b *boundaries) pass(used uint64) {
	b.next = 0
	if b.spacing == 0 {
		return
	}
	if next := (used/b.spacing + 1) * b.spacing; next > used { // else there is no number for it
		b.next = next
	}
}

// due reports whether a poll with so much fuel used is a boundary.
func (b *boundaries) due(used uint64) bool { return b.next > 0 && used >= b.next }

// cross gives what is to be done at a boundary, if the guest is at one, and passes it.
func (c *control) cross() func(context.Context, *Machine) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := c.used.Load()
	if !c.bounds.due(used) {
		return nil
	}
	c.bounds.pass(used)
	return c.bounds.do
}

// Hash is what Manifest.Hash would be of a checkpoint made now. Nothing is stored: the next checkpoint stores what it
// would have stored without this, also what has not changed since. The guest must stand still; Ahead and Finish may be
// under way, and are waited for as far as they hash.
func (r *Recorder) Hash(s *State, memory, system []byte, keepNaNs bool) (Hash, error) {
	if r.hashing != nil {
		<-r.hashing // of pages that were taken nobody tells again that they were written
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	changed, err := r.find(memory, func(_ int, b []byte) ([]byte, error) { return b, nil }, false)
	if err != nil {
		return Hash{}, err
	}
	r.name(changed)
	return r.manifest(len(memory)/pageSize, s, system, keepNaNs).Hash()
}
