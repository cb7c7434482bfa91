package cost

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/task"
)

// Errors of a peer that costs too much.
var (
	// ErrBusy says that a budget is spent: the peer may ask again in a while.
	ErrBusy = errors.New("p2p: too much is asked of this node; ask again in a while")
	// ErrBeyond says that a peer went on long after its budget was spent.
	ErrBeyond = errors.New("p2p: the peer costs far more than a peer may")
)

const (
	// maxPurses bounds the peers that are remembered, ten times as many as are connected. Strangers beyond share one
	// purse; a member takes the place of a stranger.
	maxPurses = 1024
	// judgedFor is how long a peer is taken for what it was: asking takes a lock or two.
	judgedFor = time.Second
	// patience is how long a peer may have to wait until it has paid its debts. One that is
	// beyond is refused: a sender gives up after half a minute.
	patience = 30 * time.Second
	// small is how many bytes are a peer's own cost alone: others' large messages do not hold
	// up pings, and what says that a task has ended.
	small = 4 * kib
	// ahead is what one that waits for others' debts pays before the next may go on, so that
	// not all of them go on at once.
	ahead = 2 * millisecond
)

// Budgets are those of all peers of a node. They are safe for concurrent use.
type Budgets struct {
	member func(p task.PeerID, now time.Time) bool
	gate   chan struct{} // has a token of who waits for the debts of all; those behind it wait for their turn

	mu     sync.Mutex
	ranks  map[task.PeerID]Class
	purses map[task.PeerID]*purse
	shared *purse // of all that the node does not work with
}

// New returns the budgets of a node, all untouched; member says who is in one of its
// overlays.
func New(member func(p task.PeerID, now time.Time) bool) *Budgets {
	return &Budgets{
		member: member, gate: make(chan struct{}, 1), purses: map[task.PeerID]*purse{}, shared: newPurse(together),
	}
}

// Rank says with whom the node works now: Workers and Coordinators. The map is Rank's to keep.
func (b *Budgets) Rank(ranks map[task.PeerID]Class) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ranks = ranks
	for _, p := range b.purses {
		p.judged = time.Time{}
	}
}

// Class returns what a peer is to the node.
func (b *Budgets) Class(of task.PeerID) Class {
	p := b.purse(of, time.Now())
	b.mu.Lock()
	defer b.mu.Unlock()
	return p.class
}

// purse returns a peer's purse. It outlives the connection until it is full again, so that
// reconnecting gains nothing.
func (b *Budgets) purse(of task.PeerID, now time.Time) *purse {
	b.mu.Lock()
	p, class := b.purses[of], b.ranks[of]
	fresh := p != nil && !p.judged.IsZero() && now.Sub(p.judged) < judgedFor
	b.mu.Unlock()
	if fresh {
		return p
	}
	if !class.works() && b.member(of, now) {
		class = Member
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p = b.find(of, class, now)
	p.become(class, now)
	return p
}

// find returns a peer's purse, or the one that strangers beyond maxPurses share; b.mu is held.
func (b *Budgets) find(of task.PeerID, class Class, now time.Time) *purse {
	if p := b.purses[of]; p != nil {
		return p
	}
	if len(b.purses) >= maxPurses {
		maps.DeleteFunc(b.purses, func(_ task.PeerID, p *purse) bool { return p.full(now) })
	}
	if len(b.purses) >= maxPurses && !class.works() && (class != Member || !b.dropStranger()) {
		of = ""
	}
	if b.purses[of] == nil {
		b.purses[of] = newPurse(perPeer[Stranger])
	}
	return b.purses[of]
}

// dropStranger forgets a stranger, and reports whether there is one besides the purse that strangers share; b.mu is held.
func (b *Budgets) dropStranger() bool {
	for of, p := range b.purses {
		if of != "" && p.class == Stranger {
			delete(b.purses, of)
			return true
		}
	}
	return false
}

// Debit takes what a peer has cost, also what it has not.
func (b *Budgets) Debit(of task.PeerID, k Kind, n int) {
	now := time.Now()
	p := b.purse(of, now)
	b.mu.Lock()
	defer b.mu.Unlock()
	p.debit(k, n, now)
	if !p.class.works() {
		b.shared.debit(k, n, now)
	}
}

// Owes takes what a peer is to get, and returns how long it is to wait for it.
func (b *Budgets) Owes(of task.PeerID, k Kind, n int) time.Duration {
	now := time.Now()
	p := b.purse(of, now)
	b.mu.Lock()
	defer b.mu.Unlock()
	p.debit(k, n, now)
	wait := p.owes(k, now)
	if !p.class.works() && n > small {
		b.shared.debit(k, n, now)
		wait = max(wait, b.shared.owes(k, now))
	}
	return wait
}

// Pay waits until a peer's budget, and that of all, have n more of a kind. It returns
// ErrBeyond when the peer's debts take longer to pay than its message may, ErrBusy when those
// of all do, and an error when ctx ends.
func (b *Budgets) Pay(ctx context.Context, of task.PeerID, k Kind, n int) error {
	now := time.Now()
	p := b.purse(of, now)
	b.mu.Lock()
	own, shared := p.owes(k, now) > patience, !p.class.works() && n > small && b.shared.owes(k, now) > patience
	b.mu.Unlock()
	switch {
	case own:
		return ErrBeyond
	case shared:
		return ErrBusy
	}
	if wait := b.Owes(of, k, n); wait > 0 {
		return pause.For(ctx, wait)
	}
	return nil
}

// Afford is Pay of what a peer asked for, if that takes no longer than within: it returns ErrBusy else, and takes
// nothing.
func (b *Budgets) Afford(ctx context.Context, of task.PeerID, k Kind, n int, within time.Duration) error {
	now := time.Now()
	p := b.purse(of, now)
	b.mu.Lock()
	wait, shared := p.lacks(k, n, now), !p.class.works() && n > small
	if shared {
		wait = max(wait, b.shared.lacks(k, n, now))
	}
	if wait > within {
		b.mu.Unlock()
		return ErrBusy
	}
	p.debit(k, n, now)
	if shared {
		b.shared.debit(k, n, now)
	}
	b.mu.Unlock()
	if wait > 0 {
		return pause.For(ctx, wait)
	}
	return nil
}

// Settle waits until a peer has paid for the time that it has cost, and all together have.
// It returns ErrBeyond when the peer's own debts take too long, and an error when ctx ends.
func (b *Budgets) Settle(ctx context.Context, of task.PeerID) error {
	now := time.Now()
	p := b.purse(of, now)
	b.mu.Lock()
	wait, works := max(p.owes(Decoding, now), p.owes(Loop, now)), p.class.works()
	b.mu.Unlock()
	if wait > patience {
		return ErrBeyond
	}
	if wait > 0 {
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
	if works {
		return nil
	}
	return b.settleShared(ctx)
}

// settleShared waits until all that the node does not work with have paid together.
func (b *Budgets) settleShared(ctx context.Context) error {
	owed := func() time.Duration {
		now := time.Now()
		b.mu.Lock()
		defer b.mu.Unlock()
		return max(b.shared.owes(Decoding, now), b.shared.owes(Loop, now))
	}
	if owed() <= 0 {
		return nil
	}
	select {
	case b.gate <- struct{}{}:
		defer func() { <-b.gate }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for wait := owed(); wait > 0; wait = owed() {
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.shared.debit(Decoding, ahead, now)
	b.shared.debit(Loop, ahead, now)
	return nil
}

// Ask takes one of a kind. It returns ErrBusy, and takes none, when there is none, and
// ErrBeyond when that was said to the peer too often.
func (b *Budgets) Ask(of task.PeerID, k Kind) error {
	now := time.Now()
	p := b.purse(of, now)
	b.mu.Lock()
	defer b.mu.Unlock()
	shared := !p.class.works()
	if p.has(k, 1, now) && (!shared || b.shared.has(k, 1, now)) {
		p.debit(k, 1, now)
		if shared {
			b.shared.debit(k, 1, now)
		}
		return nil
	}
	if p.has(k, 1, now) {
		return ErrBusy // others asked too much
	}
	if !p.has(refusals, 1, now) {
		return ErrBeyond
	}
	p.debit(refusals, 1, now)
	return ErrBusy
}
