package node

import (
	"context"
	"sync"

	"godwit/p2p/cost"
	"godwit/task"
)

const (
	// turnPosts and turnBytes bound what waits for the loop of one peer; turnBytes holds
	// for its frames, of which one is always taken. Beyond them the network's readers of that
	// peer wait, which is the back-pressure on it.
	turnPosts = 64
	turnBytes = 64 << 10
	// workerBytes is turnBytes of those that the node works with: a follower's copies of a
	// busy ledger.
	workerBytes = 4 << 20
	// unbounded is for what must not wait: that a peer is connected, or not.
	unbounded = -1
	// largeFrame is the size of frames that wait for each other until they are handled,
	// since what they decode to may be many times as much.
	largeFrame = 64 << 10
)

// An intake holds what waits for the loop because of other peers: each of them has a turn, one
// after the other, so that none keeps the loop from the others. What one peer brought is
// handled in the order that it came.
type intake struct {
	ready chan struct{} // holds a token while something waits
	large chan struct{} // holds a token of a large frame of a peer that the node does not work with

	mu    sync.Mutex
	turns map[task.PeerID]*turn // of those of whom something waits
	order []*turn               // whose turn is next first
}

// A turn is what waits of one peer.
type turn struct {
	posts []post
	bytes int
	moved chan struct{} // closed when some of it was taken
}

func newIntake() *intake {
	return &intake{ready: make(chan struct{}, 1), large: make(chan struct{}, 1), turns: map[task.PeerID]*turn{}}
}

// put adds a post of a peer, once there is room for it. It reports false when stopped or ctx ends
// first.
func (in *intake) put(ctx context.Context, stopped <-chan struct{}, p post, most int) bool {
	for {
		in.mu.Lock()
		t := in.turns[p.from]
		if t == nil || most == unbounded || len(t.posts) < turnPosts && (t.bytes == 0 || t.bytes+p.bytes <= most) {
			in.add(t, p)
			in.mu.Unlock()
			return true
		}
		moved := t.moved
		in.mu.Unlock()
		select {
		case <-moved:
		case <-stopped:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// add adds a post to its peer's turn, nil for a new one; in.mu is held.
func (in *intake) add(t *turn, p post) {
	if t == nil {
		t = &turn{moved: make(chan struct{})}
		in.turns[p.from] = t
		in.order = append(in.order, t)
	}
	t.posts = append(t.posts, p)
	t.bytes += p.bytes
	in.token()
}

func (in *intake) token() {
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

// take returns the first post of the peer whose turn it is; not ok for none. Of a post that is
// left in part, it is the rest that the peer's next turn is for.
func (in *intake) take() (p post, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.order) == 0 {
		return post{}, false
	}
	return in.order[0].posts[0], true
}

// done ends the turn of the peer whose post take returned; left says that something is left of
// the post.
func (in *intake) done(left bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	t := in.order[0]
	in.order = in.order[1:]
	p := t.posts[0]
	if !left {
		t.posts[0] = post{}
		t.posts = t.posts[1:]
		t.bytes -= p.bytes
		close(t.moved)
		t.moved = make(chan struct{})
	}
	if len(t.posts) == 0 {
		delete(in.turns, p.from)
	} else {
		in.order = append(in.order, t)
	}
	if len(in.order) > 0 {
		in.token()
	}
}

// admit waits until a frame of that size may be decoded. release says that it has been handled; it
// is nil when the node stops first.
func (in *intake) admit(stopped <-chan struct{}, size int, class cost.Class) (release func()) {
	if size <= largeFrame || class >= cost.Worker {
		return func() {}
	}
	select {
	case in.large <- struct{}{}:
		return sync.OnceFunc(func() { <-in.large })
	case <-stopped:
		return nil
	}
}

// postOf hands p to the loop as what a peer brought, waiting while the peer has much there, and
// gives up when the node stops.
func (c *core) postOf(p post) { c.intake.put(context.Background(), c.stopped, p, c.mostOf(p.from)) }

// noteOf is postOf for what is not the peer's to repeat without end; it does not wait.
func (c *core) noteOf(p post) { c.intake.put(context.Background(), c.stopped, p, unbounded) }

// mostOf is how many bytes of a peer's frames may wait.
func (c *core) mostOf(peer task.PeerID) int {
	if c.net.Class(peer) >= cost.Worker {
		return workerBytes
	}
	return turnBytes
}

// doOf is do for a peer that asks.
func (c *core) doOf(ctx context.Context, from task.PeerID, f func()) error {
	if from == c.self {
		return c.do(ctx, f)
	}
	asked := newCall(f)
	if !c.intake.put(ctx, c.stopped, post{from: from, call: asked.run}, turnBytes) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return ErrStopped
	}
	return asked.wait(ctx, c.stopped)
}

// lookOf is doOf for what only looks: this node itself does not wait for the disk.
func (c *core) lookOf(ctx context.Context, from task.PeerID, f func()) error {
	if from == c.self {
		return c.look(ctx, f)
	}
	return c.doOf(ctx, from, f)
}

// doFirst is do ahead of all else: what leases say.
func (c *core) doFirst(ctx context.Context, f func()) error { return c.doBy(ctx, c.first, f) }
