package exec

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"

	"godwit/blocks"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/scheduler/message"
	"godwit/task"
)

// A fakeHost is a node without a loop, a disk or a network, and the one client of the
// Executor in it.
type fakeHost struct {
	loop   sync.Mutex
	said   []message.Event
	speed  float64
	moves  bool
	job    *task.Job   // that anybody has; nil for none
	by     task.PeerID // who submitted it
	blocks *blocks.Store
	space  fakeSpace
	// fetching, if not nil, is waited for by every fetch of files; gaveUp counts those that
	// ended before.
	fetching chan struct{}
	gaveUp   atomic.Int64
	states   func(signed *task.Result) (*task.KeptStates, error) // nil: refuses
	seed     byte                                                // of its key
	dial     func(to task.PeerID) (Stream, error)                // nil: nobody can be reached
	pairs    fakePairs

	holds sync.Mutex
	held  map[task.CID]int // how often; > 0
}

func newFakeHost() *fakeHost { return &fakeHost{moves: true, held: map[task.CID]int{}} }

// executor returns one that works for the host and is closed with the test.
func (h *fakeHost) executor(t *testing.T, r Runner) *Executor {
	t.Helper()
	key := keyOf(h.seed)
	if h.blocks == nil {
		h.blocks = newBlocks(t)
	}
	x := New(t.Context(), Config{
		Key: key, Sign: func(b []byte) []byte { return ed25519.Sign(key, b) },
		Self: task.PeerIDOf(key.Public().(ed25519.PublicKey)), StageDir: t.TempDir(), Space: &h.space, Runner: r,
		Content: h, Pairs: &h.pairs, Host: h, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func keyOf(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func newBlocks(t *testing.T) *blocks.Store {
	t.Helper()
	b, err := blocks.New(t.Context(), dssync.MutexWrap(ds.NewMapDatastore()))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A fakeSpace counts, and refuses what would bring it above most; 0 is no bound.
type fakeSpace struct {
	mu         sync.Mutex
	used, most int64
}

var errNoSpace = errors.New("no space")

func (s *fakeSpace) Reserve(bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most > 0 && s.used+bytes > s.most {
		return errNoSpace
	}
	s.used += bytes
	return nil
}

func (s *fakeSpace) Release(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= bytes
}

// fakePairs are a disk's. Where fails is not nil nothing is written.
type fakePairs struct {
	mu    sync.Mutex
	pairs map[string][]byte
	fails error
}

func (p *fakePairs) Save(_ context.Context, key string, value []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.fails != nil:
		return p.fails
	case value == nil:
		delete(p.pairs, key)
	case p.pairs == nil:
		p.pairs = map[string][]byte{key: value}
	default:
		p.pairs[key] = value
	}
	return nil
}

func (p *fakePairs) Load(context.Context) (map[string][]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.pairs), nil
}

// on does something as the loop does.
func (h *fakeHost) on(do func()) {
	h.loop.Lock()
	defer h.loop.Unlock()
	do()
}

// heard returns what the client has heard so far.
func (h *fakeHost) heard() (out []message.Event) {
	h.on(func() { out = append(out, h.said...) })
	return out
}

func (h *fakeHost) Now() time.Time                        { return time.Now() }
func (h *fakeHost) Post(do func())                        { h.on(do) }
func (h *fakeHost) PostEnd(_ task.Outcome, do func())     { h.on(do) }
func (h *fakeHost) Do(_ context.Context, do func()) error { h.on(do); return nil }
func (h *fakeHost) Client(overlay.ID, task.PeerID) Client { return h }
func (h *fakeHost) Speed() float64                        { return h.speed }
func (h *fakeHost) MustGo() bool                          { return false }
func (h *fakeHost) CountChanged()                         {}
func (h *fakeHost) StateSaved()                           {}
func (h *fakeHost) HandOver(_ context.Context, to task.PeerID) (Stream, error) {
	if h.dial == nil {
		return nil, p2p.ErrClosed
	}
	return h.dial(to)
}

func (h *fakeHost) States(_ context.Context, _ Client, signed *task.Result) (*task.KeptStates, error) {
	if h.states == nil {
		return nil, ErrRefused
	}
	return h.states(signed)
}

func (h *fakeHost) Overlay() overlay.ID     { return "lab" }
func (h *fakeHost) Report(ev message.Event) { h.said = append(h.said, ev) }
func (h *fakeHost) Moves() bool             { return h.moves }

// Forecast is that of a machine which is there for two days at a time, at random.
func (h *fakeHost) Forecast() func(time.Duration) float64 {
	return func(d time.Duration) float64 { return math.Exp(-d.Hours() / 48) }
}

func (h *fakeHost) Blocks() *blocks.Store             { return h.blocks }
func (h *fakeHost) Failed(error)                      {}
func (h *fakeHost) Worked(task.PeerID, time.Duration) {}

func (h *fakeHost) MakeRoom(context.Context, int64, bool) error { return nil }
func (h *fakeHost) Fetch(ctx context.Context, roots []blocks.Root, _ []task.PeerID) error {
	if h.fetching != nil {
		select {
		case <-h.fetching:
		case <-ctx.Done():
			h.gaveUp.Add(1)
			return ctx.Err()
		}
	}
	for _, r := range roots {
		if err := h.blocks.Fetch(ctx, r.CID, nil, r.Bound); err != nil {
			return err
		}
	}
	return nil
}

func (h *fakeHost) Hold(cids []task.CID) (release func()) {
	h.holds.Lock()
	defer h.holds.Unlock()
	for _, c := range cids {
		h.held[c]++
	}
	return func() {
		h.holds.Lock()
		defer h.holds.Unlock()
		for _, c := range cids {
			if h.held[c]--; h.held[c] == 0 {
				delete(h.held, c)
			}
		}
	}
}

// holding returns what is held now.
func (h *fakeHost) holding() map[task.CID]int {
	h.holds.Lock()
	defer h.holds.Unlock()
	return maps.Clone(h.held)
}

func (h *fakeHost) Record(context.Context, task.JobID, []task.PeerID) (*task.Job, task.PeerID, error) {
	if h.job == nil {
		return nil, "", blocks.ErrNotFound
	}
	return h.job, h.by, nil
}

// prepared hands the Executor a job of so many tasks that take so long, and returns its
// ID. Lend it some cores as well.
func (h *fakeHost) prepared(t *testing.T, x *Executor, tasks int, work time.Duration) task.JobID {
	t.Helper()
	text := fmt.Sprintf("module: sleep.wasm\nwork: %s\nsweep:\n  n: {from: 1, to: %d}\n", work, tasks)
	module, err := blocks.CIDOfBytes([]byte("not run"))
	if err != nil {
		t.Fatal(err)
	}
	id := h.submitted(t, x, text, module)
	h.do(x, message.Prepare{Job: id})
	synctest.Wait()
	return id
}

// submitted makes the host have a job, and returns its ID.
func (h *fakeHost) submitted(t *testing.T, x *Executor, text string, module task.CID) task.JobID {
	t.Helper()
	f, err := task.ParseFile("sleep.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if h.job, err = f.Job(module, nil, "lab", time.Now().UTC(), make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	rec, err := task.SignJob(h.job, keyOf(0))
	if err != nil {
		t.Fatal(err)
	}
	return rec.ID()
}

// do has the Executor carry out an effect.
func (h *fakeHost) do(x *Executor, e message.Effect) { h.on(func() { x.Do(h, e) }) }

// ended returns the ends that the client has heard of.
func (h *fakeHost) ended() (out []message.Ended) {
	for _, ev := range h.heard() {
		if e, ok := ev.(message.Ended); ok {
			out = append(out, e)
		}
	}
	return out
}
