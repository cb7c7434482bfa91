package node

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"

	"godwit/internal/testnet"
	"godwit/member"
	"godwit/node/exec"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/sandbox"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// disk is a datastore that outlives its node and knows what is durable: a crash
// takes back what was committed but not synced.
type testDisk struct {
	ds.Batching
	hook func(changed []string) error // before each commit of state; may wait

	mu      sync.Mutex
	fresh   map[ds.Key][]byte // committed, not synced; nil: deleted
	durable map[ds.Key][]byte
}

func newDisk() *testDisk {
	return &testDisk{
		Batching: dssync.MutexWrap(ds.NewMapDatastore()),
		fresh:    map[ds.Key][]byte{}, durable: map[ds.Key][]byte{},
	}
}

// setHook changes hook while the disk is in use.
func (d *testDisk) setHook(hook func(changed []string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hook = hook
}

type diskBatch struct {
	d       *testDisk
	changes map[ds.Key][]byte
}

func (d *testDisk) Batch(context.Context) (ds.Batch, error) {
	return &diskBatch{d, map[ds.Key][]byte{}}, nil
}

func (b *diskBatch) Put(_ context.Context, k ds.Key, v []byte) error {
	b.changes[k] = bytes.Clone(v)
	return nil
}

func (b *diskBatch) Delete(_ context.Context, k ds.Key) error {
	b.changes[k] = nil
	return nil
}

func (b *diskBatch) Commit(ctx context.Context) error {
	var state []string
	for k := range b.changes {
		if rest, ok := strings.CutPrefix(k.String(), statePrefix+"/"); ok {
			state = append(state, rest)
		}
	}
	b.d.mu.Lock()
	hook := b.d.hook
	b.d.mu.Unlock()
	if hook != nil && len(state) > 0 {
		if err := hook(state); err != nil {
			return err
		}
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	maps.Copy(b.d.fresh, b.changes)
	return b.d.apply(ctx, b.changes)
}

func (d *testDisk) apply(ctx context.Context, changes map[ds.Key][]byte) error {
	for k, v := range changes {
		err := d.Batching.Put(ctx, k, v)
		if v == nil {
			err = d.Batching.Delete(ctx, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *testDisk) Sync(_ context.Context, prefix ds.Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k, v := range d.fresh {
		if strings.HasPrefix(k.String(), prefix.String()) {
			d.durable[k] = v
			delete(d.fresh, k)
		}
	}
	return nil
}

// Close keeps everything: the disk is still there.
func (d *testDisk) Close() error { return nil }

// crash takes back what was never synced.
func (d *testDisk) crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k := range d.fresh {
		if err := d.apply(context.Background(), map[ds.Key][]byte{k: d.durable[k]}); err != nil {
			panic(err)
		}
	}
	clear(d.fresh)
}

// has returns the durable value of one of the machines' keys in the usual
// overlay, nil for none.
func (d *testDisk) has(key string) []byte { return d.in(commons).has(key) }

// space is what a disk keeps of one overlay.
type space struct {
	*testDisk
	prefix string
}

func (d *testDisk) in(id overlay.ID) space { return space{d, overlayPrefix + string(id) + "/"} }

func (d space) has(key string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.durable[stateKey(d.prefix+key)]
}

// commons is the ID of the overlay that every node serves unless told otherwise.
var commons = func() overlay.ID {
	m, err := overlay.Named(DefaultOverlay)
	if err != nil {
		panic(err)
	}
	return m.ID()
}()

var usualPrefix = overlayPrefix + string(commons) + "/"

// A keptLoan is a loan on a submitter's disk.
type keptLoan struct {
	Tasks    []message.Range `cbor:"1,keyasint,omitempty"`
	Delivery uint64          `cbor:"2,keyasint,omitempty"`
	Cell     string          `cbor:"3,keyasint,omitempty"`
}

// lends says whether a task of a job is lent to another cell, by what is durable: to the home it is held. A
// borrower is told that all is held but what it has.
func (d space) lends(id task.TaskID, to task.PeerID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	prefix := stateKey(d.prefix+"s/l/"+string(id.Job)).String() + "/"
	for k, v := range d.durable {
		peer, ok := strings.CutPrefix(k.String(), prefix)
		var l keptLoan
		if !ok || v == nil || task.Decode(v, &l) != nil {
			continue
		}
		if set, err := ledger.MakeSet(l.Tasks); task.PeerID(peer) == to || err == nil && set.Contains(id.Index) {
			return true
		}
	}
	return false
}

// unkept says what a message to a peer claims that is not durable, or "".
func (d space) unkept(m *message.Message, to task.PeerID) string {
	missing := func(what, key string) string {
		if d.has(key) != nil {
			return ""
		}
		return what + " before " + key + " is durable"
	}
	switch {
	case m.Submit != nil:
		return missing("Submit", "s/j/"+string(m.Submit.Record.ID()))
	case m.Accepted != nil && m.Accepted.Error == "":
		return missing("Accepted", "c/"+ledger.JobKey(m.Accepted.Job))
	case m.Got != nil:
		for _, r := range m.Got.Have {
			for i := r.From; i < r.To; i++ {
				id := task.TaskID{Job: m.Got.Job, Index: i}
				row := ledger.RowKey(id)
				if d.lends(id, to) {
					continue
				}
				if bad := missing("Got", "s/t/"+strings.TrimPrefix(row, "r/")); bad != "" {
					return bad
				}
			}
		}
	case m.Place != nil:
		return d.unkeptEpoch(m.Place.Epoch)
	case m.Ack != nil:
		if bad := d.unkeptEpoch(m.Ack.Epoch); bad != "" {
			return bad
		}
		for _, e := range m.Ack.Ended {
			if d.has("c/"+ledger.JobKey(e.Task.Job)) != nil && !d.ended(e.Task, e.Attempt) {
				return fmt.Sprintf("Ack before the end of attempt %v of %v is durable", e.Attempt, e.Task)
			}
		}
	}
	return ""
}

// unkeptEpoch says that a term is announced which a restart could give again.
func (d space) unkeptEpoch(epoch uint64) string {
	var last member.LeaseRecord
	if err := json.Unmarshal(d.has(member.LeaseKey), &last); err != nil || last.Epoch < epoch {
		return fmt.Sprintf("term %d before it is durable", epoch)
	}
	return ""
}

// ended says that the leader's row has the end of an attempt, or a result that
// makes it of no use, or that the submitter holds the task's end.
func (d space) ended(id task.TaskID, a message.Attempt) bool {
	facts, err := ledger.DecodeFacts(d.has("c/" + ledger.FactsKey(id.Job)))
	if err == nil && (facts.Done.Contains(id.Index) || facts.Failed.Contains(id.Index)) {
		return true
	}
	row, err := ledger.DecodeRow(d.has("c/" + ledger.RowKey(id)))
	return err == nil && (len(row.Results) > 0 || slices.ContainsFunc(row.Log, func(l message.AttemptLog) bool {
		return l.Attempt == a && l.Outcome != ""
	}))
}

// counter counts what a sleeping runner starts.
type counter struct {
	exec.Sleeper
	output int          // bytes that each task puts out
	lies   bool         // puts out others
	saves  bool         // the state of its tasks
	usual  bool         // its core is as fast as the reference core
	rounds bool         // and sends it ahead of them
	fault  func(string) // called with each step of a hand-over; nil for nobody
	mu     sync.Mutex
	starts map[task.TaskID]int
	stuck  atomic.Bool // its tasks never end
}

func (c *counter) Run(ctx context.Context, r exec.Run) (sandbox.Report, error) {
	c.mu.Lock()
	c.starts[r.Task]++
	c.mu.Unlock()
	if c.stuck.Load() {
		<-ctx.Done()
		return sandbox.Report{}, ctx.Err()
	}
	if c.fault != nil && r.State != nil {
		r.State = watched(r.State, c.fault)
	}
	rep, err := c.Sleeper.Run(ctx, r)
	if c.output > 0 && err == nil {
		seed := r.Task.String()
		if c.lies {
			seed = "a lie about " + seed
		}
		rep.Outputs = append(rep.Outputs[:0:0], sandbox.File{Name: "stdout", Data: noise(seed, c.output)})
	}
	return rep, err
}

// Speed is that of a core half as fast again as the reference core, unless it is a usual one.
func (c *counter) Speed(context.Context) (float64, error) {
	if c.usual {
		return 1, nil
	}
	return 1.5, nil
}

func (c *counter) started() map[task.TaskID]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.starts)
}

// swarm is nodes on a simulated network, in a bubble.
type swarm struct {
	t      *testing.T
	net    *testnet.Net
	peers  []*peer
	joined []*p2p.Config // by host, once its node has joined
}

// peer is one node of a swarm, over all its restarts.
type peer struct {
	*Node
	s      *swarm
	host   *testnet.Node
	disk   *testDisk
	runner *counter
	other  exec.Runner    // in place of runner; nil for none
	before func(n *Node)  // it runs; nil for nothing
	serves func()         // called before each stream of a hand-over is served; nil for nothing
	draw   func() float64 // see ground
	cfg    Config
	stop   func()
	up     atomic.Bool
	lies   atomic.Bool // of the cell that it leads, and has nobody else run a task
}

// simHost is a host that the simulated network runs.
type simHost struct {
	*p2p.Host
	stop func()
	peer *peer
}

// HandOver opens a stream whose frames the peer's fault hears of.
func (h simHost) HandOver(ctx context.Context, to task.PeerID) (exec.Stream, error) {
	fault := h.peer.runner.fault
	if fault == nil {
		return host{h.Host}.HandOver(ctx, to)
	}
	fault("source: asked")
	s, err := host{h.Host}.HandOver(ctx, to)
	if err != nil {
		return nil, err
	}
	return watchedStream{s, fault}, nil
}

func (h simHost) Run(ctx context.Context) error {
	<-ctx.Done()
	return h.Close()
}

func (h simHost) Close() error {
	h.stop()
	return nil
}

// SetAdvert checks that no term is announced which a crash would take back.
func (h simHost) SetAdvert(a overlay.Advert) error {
	if a.Epoch > 0 {
		if bad := h.peer.disk.in(a.Overlay).unkeptEpoch(a.Epoch); bad != "" {
			h.peer.s.t.Errorf("%s adverts %s", shortPeer(h.ID()), bad)
		}
	}
	return h.Host.SetAdvert(a)
}

// Send checks that a node says only what it will still know after a crash.
func (h simHost) Send(to task.PeerID, frame []byte) error {
	id, rest, err := addressee(frame)
	if err != nil {
		h.peer.s.t.Errorf("a node sends a frame to no overlay: %v", err)
	}
	msgs, err := message.DecodeFrame(rest)
	if err != nil {
		h.peer.s.t.Errorf("a node sends a frame that does not decode: %v", err)
	}
	for i := range msgs {
		if bad := h.peer.disk.in(id).unkept(&msgs[i], to); bad != "" {
			h.peer.s.t.Errorf("%s sends %s", shortPeer(h.ID()), bad)
		}
	}
	if h.peer.lies.Load() {
		frames, err := (&message.Packer{}).Frames(address(id, nil), withoutPlaces(msgs))
		for _, f := range frames {
			err = errors.Join(err, h.Host.Send(to, f))
		}
		return err
	}
	return h.Host.Send(to, frame)
}

// SaySummary says something else where the peer lies.
func (h simHost) SaySummary(sum overlay.Summary) error {
	if h.peer.lies.Load() && sum.Members > 0 {
		sum = h.peer.lyingSummary(sum)
	}
	return h.Host.SaySummary(sum)
}

// newSwarm makes n nodes of two cores, none of them running.
func newSwarm(t *testing.T, n int) *swarm {
	t.Helper()
	return newSwarmBehind(t, n, nil)
}

// newSwarmBehind is newSwarm of nodes behind routers.
func newSwarmBehind(t *testing.T, n int, nat func(i int) testnet.NAT) *swarm {
	t.Helper()
	s := &swarm{t: t, joined: make([]*p2p.Config, n)}
	s.net = testnet.New(t, n, testnet.Options{Alone: true, NAT: nat, Overlays: func(int) []p2p.Overlay { return nil },
		Config: func(i int, cfg *p2p.Config) {
			if c := s.joined[i]; c != nil {
				cfg.Handler, cfg.OnBlocks, cfg.Bootstrap, cfg.OnHandOver = c.Handler, c.OnBlocks, c.Bootstrap, c.OnHandOver
				cfg.Relaying, cfg.OnAddrs, cfg.OnSummary = c.Relaying, c.OnAddrs, c.OnSummary
			}
		}})
	for _, host := range s.net.Nodes {
		host.Stop() // until its node joins
		cfg, err := Config{DataDir: t.TempDir(), Cores: 2, Memory: 1 << 32,
			Experiment: Experiment{Runner: RunSleep}}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		p := &peer{s: s, host: host, disk: newDisk(), cfg: cfg, runner: &counter{starts: map[task.TaskID]int{}}}
		s.peers = append(s.peers, p)
		t.Cleanup(func() {
			if p.stop != nil {
				p.stop()
			}
		})
	}
	return s
}

// startSwarm runs n nodes that know the first, and waits until they have
// gathered.
func startSwarm(t *testing.T, n int) *swarm {
	t.Helper()
	s := newSwarm(t, n)
	for i, p := range s.peers {
		if i > 0 {
			p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
		}
		p.start()
	}
	s.gather(s.peers...)
	return s
}

// start runs the node on the disk that it has.
func (p *peer) start() {
	t := p.s.t
	t.Helper()
	join := func(c p2p.Config, serve serveFunc) (network, error) {
		c.OnHandOver = p.serveWatched(serve)
		for i, host := range p.s.net.Nodes {
			if host == p.host {
				p.s.joined[i] = &c
			}
		}
		p.host.Start()
		return simHost{p.host.Host, p.host.Stop, p}, nil
	}
	var runs exec.Runner = p.runner
	if p.other != nil {
		runs = p.other
	}
	n, err := newNode(t.Context(), p.cfg, ground{p.host.Key, p.disk, join, runs, nil, p.draw})
	if err != nil {
		t.Fatal(err)
	}
	if p.before != nil {
		p.before(n)
	}
	p.Node = n
	p.up.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	p.stop = sync.OnceFunc(func() {
		p.up.Store(false)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// crash ends the node without a goodbye and takes back what it had not made
// durable.
func (p *peer) crash() {
	p.halt()
	p.stop()
	p.disk.crash()
}

// gather waits until the peers agree on a leader and see each other.
func (s *swarm) gather(peers ...*peer) {
	s.t.Helper()
	s.until("the nodes know each other and one leader", func() bool {
		first := peers[0].status().Overlays[0]
		return first.Leader != "" && !slices.ContainsFunc(peers, func(p *peer) bool {
			o := p.status().Overlays[0]
			return o.Members != len(peers) || o.Leader != first.Leader || o.Epoch != first.Epoch
		})
	})
}

func (p *peer) status() Status {
	p.s.t.Helper()
	st, err := p.Status(context.Background())
	if err != nil {
		p.s.t.Fatal(err)
	}
	return st
}

// submit hands in a job of so many tasks that sleep for work.
func (p *peer) submit(tasks int, work time.Duration) task.JobID {
	p.s.t.Helper()
	id, err := p.Submit(context.Background(), sleepJob(p.s.t, p.Node, tasks, work))
	if err != nil {
		p.s.t.Fatal(err)
	}
	return id
}

// sleepJob returns a submission of so many tasks that sleep for work. Nothing is checked, because most tests count how
// often each task runs; see submitVerified.
func sleepJob(t *testing.T, n *Node, tasks int, work time.Duration) Submission {
	t.Helper()
	text := fmt.Sprintf("module: sleep.wasm\nwork: %s\nverify: off\nsweep:\n  n: {from: 1, to: %d}\n", work, tasks)
	f, err := task.ParseFile("sleep.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	module, err := n.Blocks().ImportBytes(context.Background(), []byte("not run"))
	if err != nil {
		t.Fatal(err)
	}
	return Submission{File: f, Module: module}
}

// running returns how many tasks of a job run, as the leader says.
func (p *peer) running(id task.JobID) uint64 {
	st, err := p.Job(context.Background(), id, 0, 0)
	if err != nil {
		return 0
	}
	return st.Tasks.Running
}

// ended reports whether the job is final. Its submitter knows that by itself, so no leader has to answer every 20 ms.
func (p *peer) ended(id task.JobID) (final bool) {
	err := p.Node.look(context.Background(), func() {
		if m := p.overlays.submitted(id); m != nil {
			st, _ := m.Submitter().Job(id)
			final = st.Final
		}
	})
	return err == nil && final
}

// finish waits until the job has ended at its submitter, checks that each task
// was delivered once with a result that verifies, and returns the results.
func (p *peer) finish(id task.JobID, tasks int) []message.TaskSummary {
	t := p.s.t
	t.Helper()
	p.s.until("the job ends", func() bool { return p.ended(id) })
	st, err := p.Job(context.Background(), id, 0, 0)
	if err != nil || st.State != message.JobDone || st.Tasks.Done != uint64(tasks) || st.Held != uint64(tasks) {
		t.Errorf("the job ended as %+v, %v", st, err)
	}
	got, err := p.Results(context.Background(), id, 0, tasks+1)
	if err != nil || len(got) != tasks {
		t.Fatalf("%d results, want %d: %v", len(got), tasks, err)
	}
	for i := range got {
		if got[i].Index != uint64(i) || got[i].Failed || len(got[i].Results) != 1 {
			t.Fatalf("result %d is %+v", i, got[i])
		}
		r := &got[i].Results[0]
		made := task.TaskID{Job: id, Index: uint64(i)}
		if got[i].From != nil {
			made = *got[i].From
		}
		if signed := got[i].AsSigned(0); signed.Verify() != nil || r.Outcome != task.Completed || r.Task != made {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	return got
}

// starts counts how often each task was started on the peers, all together.
func starts(peers ...*peer) map[task.TaskID]int {
	sum := map[task.TaskID]int{}
	for _, p := range peers {
		for id, n := range p.runner.started() {
			sum[id] += n
		}
	}
	return sum
}

func testKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

// founderAlone starts the first peer in an overlay of its own, which it leads, with a
// task for as long as the test runs.
func (s *swarm) founderAlone() (*peer, overlay.ID) {
	founder := s.peers[0]
	founder.start()
	lab := founder.found(OverlayRules{Name: "lab", Migration: "reactive", Coordinators: 1})
	founder.submitTo(lab, 1, 100*time.Hour)
	s.until("the founder has a task", func() bool { return founder.runningIn()[lab] == 1 })
	return founder, lab
}

// joinTo starts a peer that joins the first one's overlay; among are all that are then
// in it.
func (s *swarm) joinTo(lab overlay.ID, p *peer, among ...*peer) {
	p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
	p.start()
	s.gather(among...)
	p.join(string(lab))
	s.gatherIn(lab, among...)
}
