package sandbox

import "sync"

// A readiness is what is made ready for the next checkpoint while the guest runs: rounds
// that are sent ahead, then room for what is left. It is safe for any goroutine; the
// zero value has nothing ready.
type readiness struct {
	mu      sync.Mutex
	over    bool          // the run has ended
	room    *arena        // for the checkpoint that is asked for
	offered bool          // that is asked of the machine
	rounds  chan struct{} // closed when those made last have ended; nil if none were
	halted  bool          // none may be made
}

// offer gives room for a checkpoint, and has it asked for. After the end of the run the
// room is given back.
func (r *readiness) offer(room *arena, ask func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		room.free()
		return
	}
	r.room, r.offered = room, true
	ask()
}

// ask has a checkpoint asked for whose room was offered, unless the run has ended.
func (r *readiness) ask(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over && r.offered {
		f()
	}
}

// take gives what was offered, if anything was, which may be nil; over says that
// nothing more is wanted.
func (r *readiness) take(over bool) (room *arena, offered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	room, offered = r.room, r.offered
	r.room, r.offered, r.over = nil, false, r.over || over
	return room, offered
}

// begin says that rounds are made, until done is closed, unless the run has ended or
// its state is being handed over.
func (r *readiness) begin() (done chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.halted {
		return nil, false
	}
	r.rounds = make(chan struct{})
	return r.rounds, true
}

// stops reports whether rounds are to end.
func (r *readiness) stops() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over || r.halted
}

// halt ends rounds, and allows no others before letGo. When it has returned, none
// uses the recorder.
func (r *readiness) halt() {
	r.mu.Lock()
	r.halted = true
	done := r.rounds
	r.mu.Unlock()
	if done != nil {
		<-done
	}
}

// letGo allows rounds again.
func (r *readiness) letGo() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halted = false
}
