package hostile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/task"
)

// A field is what is attacked: two nodes that serve an open pool and an overlay that admits
// whom its founder invites, and a member of the open pool that behaves, which hears the
// leader's renewals. The first node leads and lends a slot; the second hands jobs in and
// lends one, too.
type field struct {
	*Options
	rng    *rand.Rand
	dir    string // for files
	nodes  []Node // victim, helper
	gauge  *gauge
	guest  string // file of the program that tasks run
	ticket string // to the closed overlay
	open   overlay.ID
	closed overlay.ID
	terms  map[overlay.ID]uint64 // when the field was made
	disk   int64                 // that the owners let the nodes keep, in bytes

	mu        sync.Mutex
	strangers []*stranger // to be dismissed after the attack
	witness   *stranger
	jobs      int // names of jobs
	watching  sync.WaitGroup
	stop      context.CancelFunc
}

// A pool is how a node sees an overlay that it serves.
type pool struct {
	Name   string        `json:"name"`
	ID     overlay.ID    `json:"id"`
	Leader task.PeerID   `json:"leader"`
	Term   uint64        `json:"term"`
	Epoch  uint64        `json:"epoch"`
	Group  []task.PeerID `json:"group"`
	Role   string        `json:"role"`
	Jobs   int           `json:"jobs"`
	Rows   int           `json:"rows"`
}

const (
	openName   = "commons"
	closedName = "circle"
	// gatherLimit bounds how long nodes may take to find each other.
	gatherLimit = 40 * time.Second
	// agreeLimit is how long after an attack the nodes may take to agree on a leader: a lease
	// and the turns of those that stand by, three times over on a busy machine.
	agreeLimit = 30 * time.Second
	lookAgain  = 100 * time.Millisecond
)

// rulesOf are the owners' rules: they let tasks run whoever uses this machine, within a disk that an
// attack fills in seconds.
func rulesOf(disk int64) string {
	return fmt.Sprintf(`run_if_user_active: true
run_if_full_screen: true
run_on_batteries: true
suspend_cpu_usage: 0
suspend_memory_pressure: 0
max_cores: 100
max_cores_busy: 100%%
max_memory_busy: 50%%
max_disk: %dMiB
relay_per_day: %dMiB
`, disk>>20, relayMost>>20)
}

// newField starts the nodes and waits until they are a swarm.
func newField(ctx context.Context, o *Options, rng *rand.Rand, number int, disk int64) (_ *field, err error) {
	f := &field{Options: o, rng: rng, dir: filepath.Join(o.Dir, fmt.Sprintf("field%d", number)), stop: func() {},
		terms: map[overlay.ID]uint64{}, disk: disk}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, err
	}
	f.guest = filepath.Join(f.dir, "guest.wasm")
	if err := os.WriteFile(f.guest, Guest(usualSpin), 0o600); err != nil {
		return nil, err
	}
	var peers []string
	for range 2 {
		n, err := o.Start(ctx, Spec{Rules: rulesOf(f.disk), Peers: peers, Flags: []string{"--cores", "1", "--memory",
			"1GiB"}})
		if err != nil {
			return nil, err
		}
		f.nodes, peers = append(f.nodes, n), append(peers, n.Addr())
	}
	if err := f.found(ctx); err != nil {
		return nil, err
	}
	f.gauge = newGauge(f.nodes)
	if f.witness, err = f.newWitness(ctx); err != nil {
		return nil, err
	}
	var watched context.Context
	watched, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	f.watching.Go(func() { f.gauge.run(watched) })
	return f, f.awaitSwarm(ctx)
}

// found makes the closed overlay.
func (f *field) found(ctx context.Context) error {
	v, h := f.victim(), f.helper()
	if _, err := v.Verb(ctx, f.dir, "overlay", "create", closedName, "--admission", overlay.Invited.String()); err != nil {
		return err
	}
	said, err := v.Verb(ctx, f.dir, "overlay", "invite", closedName)
	if err != nil {
		return err
	}
	f.ticket = said
	if err := until(ctx, gatherLimit, func() error {
		_, err := h.Verb(ctx, f.dir, "overlay", "join", f.ticket)
		return err
	}); err != nil {
		return err
	}
	list, err := f.pools(ctx, v)
	f.open, f.closed = list[openName].ID, list[closedName].ID
	return err
}

func (f *field) victim() Node { return f.nodes[0] }
func (f *field) helper() Node { return f.nodes[1] }

// pools returns the overlays of a node by name.
func (f *field) pools(ctx context.Context, n Node) (map[string]pool, error) {
	var list []pool
	if err := n.Get(ctx, "/v1/overlays", &list); err != nil {
		return nil, err
	}
	out := map[string]pool{}
	for _, p := range list {
		out[p.Name] = p
	}
	return out, nil
}

// agreed returns what the nodes agree on of an overlay: a leader of ours.
func (f *field) agreed(ctx context.Context, name string) (p pool, err error) {
	for i, n := range f.nodes {
		list, err := f.pools(ctx, n)
		if err != nil {
			return p, fmt.Errorf("node %d: %w", i, err)
		}
		of := list[name]
		switch {
		case of.Leader == "":
			return p, fmt.Errorf("node %d knows nobody who leads %s", i, name)
		case of.Leader != f.victim().Peer() && of.Leader != f.helper().Peer():
			return p, fmt.Errorf("node %d follows a stranger in %s", i, name)
		case i > 0 && of.Leader != p.Leader:
			return p, fmt.Errorf("the nodes follow two leaders in %s", name)
		case i > 0 && of.Epoch != p.Epoch:
			return p, fmt.Errorf("the nodes follow one leader of %s in two terms, %d and %d", name, p.Term, of.Term)
		}
		p = of
	}
	return p, nil
}

// leader returns who leads an overlay now.
func (f *field) leader(ctx context.Context, name string) (pool, error) {
	var p pool
	return p, until(ctx, agreeLimit, func() (err error) { p, err = f.agreed(ctx, name); return err })
}

// awaitSwarm waits until the nodes agree on who leads.
func (f *field) awaitSwarm(ctx context.Context) error {
	for _, name := range []string{openName, closedName} {
		p, err := f.leader(ctx, name)
		if err != nil {
			return err
		}
		f.terms[p.ID] = p.Term
	}
	return nil
}

// dismiss ends the strangers of an attack.
func (f *field) dismiss() {
	f.mu.Lock()
	all := f.strangers
	f.strangers = nil
	f.mu.Unlock()
	for _, s := range all {
		s.end()
	}
}

// close ends all of the field.
func (f *field) close() {
	f.stop()
	f.watching.Wait()
	f.dismiss()
	if f.witness != nil {
		f.witness.end()
	}
	for _, n := range f.nodes {
		n.Kill()
	}
	_ = os.RemoveAll(f.dir) // a copy of nothing
}

// hold judges what must hold whatever was tried.
func (f *field) hold(ctx context.Context, row *Row, level bool) {
	alive := true
	for i, n := range f.nodes {
		if n.Ended() {
			alive = false
			row.broke("node %d has ended: %s", i, lastWords(n.Said()))
		}
	}
	l := f.gauge.look()
	if alive {
		for _, name := range []string{openName, closedName} {
			p, err := f.leader(ctx, name)
			row.must("who leads", err)
			if err == nil && p.Term > f.terms[p.ID] {
				row.now("%s: %d terms on", name, p.Term-f.terms[p.ID])
				f.terms[p.ID] = p.Term
			}
		}
		row.now("alive, one leader")
	}
	row.now("memory at most %d MiB", l.memory>>20)
	if l.memory > memoryMost {
		row.broke("a node took %d MiB of memory, at most %d", l.memory>>20, memoryMost>>20)
	}
	row.now("disk %d of %d MiB", l.disk>>20, f.disk>>20)
	if l.disk > f.disk+diskSlack {
		row.broke("a node kept %d MiB on its disk; its owner lets it have %d", l.disk>>20, maxDisk>>20)
	}
	row.now("renewals at most %.2f s late, of %d; the API at most %.2f s", l.late.Seconds(), l.beats, l.slow.Seconds())
	if l.beats == 0 {
		row.broke("no renewal of the lease was heard, so that nobody can say how late they are")
	}
	if level && l.late > lateMost {
		row.broke("a renewal of the lease came %.2f s late, at most %.0f", l.late.Seconds(), lateMost.Seconds())
	}
}

// lastWords is what a log ends with, or why a program crashed.
func lastWords(log string) string {
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return strings.TrimSpace(line)
		}
	}
	const most = 200
	return log[max(0, len(log)-most):]
}

// until tries again and again, until it works or the limit has passed.
func until(ctx context.Context, limit time.Duration, try func() error) error {
	end := time.Now().Add(limit)
	for {
		err := try()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("after %v: %w", limit, err)
		}
		if e := pause.For(ctx, lookAgain); e != nil {
			return errors.Join(e, err)
		}
	}
}
