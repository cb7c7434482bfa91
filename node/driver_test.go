package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ipfs/go-datastore/query"

	"godwit/member"
	"godwit/node/exec"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/p2p/cost"
	"godwit/p2p/wire"
	"godwit/scheduler/message"
	"godwit/task"
)

// fakeNet is a network of which the test is every other peer.
type fakeNet struct {
	handler p2p.Handler
	answers func(to task.PeerID, method string) ([]byte, error)

	mu      sync.Mutex
	sent    []message.Message
	adverts []overlay.Advert
	closed  bool
	blamed  []task.PeerID
	table   map[p2p.Key][]task.PeerID // whom the hash table names; nil: there is none
}

var errUnreachable = errors.New("the peer cannot be reached")

func (f *fakeNet) Run(ctx context.Context) error {
	<-ctx.Done()
	return f.Close()
}

func (f *fakeNet) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

func (f *fakeNet) Send(_ task.PeerID, frame []byte) error {
	_, frame, err := addressee(frame)
	if err != nil {
		return err
	}
	msgs, err := message.DecodeFrame(frame)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, msgs...)
	return err
}

func (f *fakeNet) SetAdvert(a overlay.Advert) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.adverts = append(f.adverts, a)
	return nil
}

func (f *fakeNet) Request(_ context.Context, to task.PeerID, method string, _ []byte) ([]byte, error) {
	f.mu.Lock()
	answers := f.answers
	f.mu.Unlock()
	if answers == nil {
		return nil, errUnreachable
	}
	return answers(to, method)
}

// answer has peers answer so from now on; nil: nobody answers.
func (f *fakeNet) answer(answers func(to task.PeerID, method string) ([]byte, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers = answers
}

func (f *fakeNet) Join(p2p.Overlay) error   { return nil }
func (f *fakeNet) Leave(overlay.ID) error   { return nil }
func (f *fakeNet) Recheck(overlay.ID) error { return nil }

func (f *fakeNet) EnterCell(overlay.ID, overlay.Cell) error     { return nil }
func (f *fakeNet) SaySummary(overlay.Summary) error             { return nil }
func (f *fakeNet) Greet(task.PeerID) error                      { return nil }
func (f *fakeNet) Introduce(context.Context, task.PeerID) error { return nil }
func (f *fakeNet) Reachable([]overlay.Summary, task.PeerID)     {}

func (f *fakeNet) Shared(task.PeerID) []overlay.ID { return nil }

// AskBlocks reaches nobody.
func (f *fakeNet) AskBlocks(context.Context, task.PeerID) (*wire.Stream, func(), error) {
	return nil, nil, p2p.ErrClosed
}

// Other believes every peer.
func (f *fakeNet) Other(p task.PeerID) (task.PeerID, error) { return p, nil }

// HandOver reaches nobody.
func (f *fakeNet) HandOver(context.Context, task.PeerID) (exec.Stream, error) {
	return nil, p2p.ErrClosed
}

func (f *fakeNet) Rank(map[task.PeerID]cost.Class)                   {}
func (f *fakeNet) Keep(map[task.PeerID]bool)                         {}
func (f *fakeNet) Class(task.PeerID) cost.Class                      { return cost.Member }
func (f *fakeNet) Debit(task.PeerID, cost.Kind, int)                 {}
func (f *fakeNet) AdvertAddrs(int) []string                          { return []string{"/ip4/192.0.2.1/tcp/1"} }
func (f *fakeNet) Addrs() []string                                   { return nil }
func (f *fakeNet) Peers() []p2p.Peer                                 { return nil }
func (f *fakeNet) Blame(p task.PeerID)                               { f.blamed = append(f.blamed, p) } // on the loop
func (f *fakeNet) Cut(task.PeerID, time.Duration) bool               { return false }
func (f *fakeNet) Reach() overlay.Reach                              { return overlay.ReachUnknown }
func (f *fakeNet) Met() []p2p.MetPeer                                { return nil }
func (f *fakeNet) Name(string) (task.PeerID, error)                  { return "", nil }
func (f *fakeNet) Meet(context.Context, string) (task.PeerID, error) { return "", p2p.ErrNotMet }
func (f *fakeNet) Suggest([]string)                                  {}
func (f *fakeNet) Provide([]p2p.Key)                                 {}

// Find finds those whom the hash table names for a key.
func (f *fakeNet) Find(ctx context.Context, k p2p.Key, try func(context.Context, task.PeerID) bool) (bool, error) {
	f.mu.Lock()
	table := f.table
	f.mu.Unlock()
	if table == nil {
		return false, p2p.ErrNoTable
	}
	good := false
	for _, p := range table[k] {
		good = try(ctx, p) || good
	}
	return good, nil
}

// name has the hash table name some for each key from now on.
func (f *fakeNet) name(table map[p2p.Key][]task.PeerID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.table = table
}

func (f *fakeNet) Unname(task.PeerID) bool { return false }
func (f *fakeNet) Named() []p2p.NamedPeer  { return nil }
func (f *fakeNet) Stats() p2p.Stats        { return p2p.Stats{} }
func (f *fakeNet) Reaching() p2p.Reaching  { return p2p.Reaching{} }
func (f *fakeNet) Skew() p2p.Skew          { return p2p.Skew{} }

// count returns how many of the messages sent so far are as asked for, once the
// node has nothing more to do.
func (f *fakeNet) count(is func(*message.Message) bool) int {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for i := range f.sent {
		if is(&f.sent[i]) {
			n++
		}
	}
	return n
}

// epoch returns the newest term that was announced; 0 for none.
func (f *fakeNet) epoch() uint64 {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.adverts) == 0 {
		return 0
	}
	return f.adverts[len(f.adverts)-1].Epoch
}

// lone is a node of two cores on a fake network, in a bubble.
type lone struct {
	*Node
	net   *fakeNet
	disk  *testDisk
	ended chan error
	stop  context.CancelFunc
}

// startLone runs a node that founds its overlay at once, or, if it is to follow,
// has not heard of one yet.
func startLone(t *testing.T, d *testDisk, follow bool) *lone {
	t.Helper()
	cfg := Config{DataDir: t.TempDir(), Cores: 2, Memory: 1 << 32, Experiment: Experiment{Runner: RunSleep}}
	if follow {
		cfg.Bootstrap = []string{"somebody"} // only whether there is any matters here
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	l := &lone{net: &fakeNet{}, disk: d, ended: make(chan error, 1)}
	join := func(c p2p.Config, _ serveFunc) (network, error) {
		l.net.handler = c.Handler
		return l.net, nil
	}
	if l.Node, err = newNode(t.Context(), cfg, ground{testKey(1), d, join, &exec.Sleeper{}, nil, nil}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	t.Cleanup(cancel)
	go func() { l.ended <- l.Run(ctx) }()
	synctest.Wait()
	return l
}

// end stops the node and returns what Run returns.
func (l *lone) end() error {
	l.stop()
	return <-l.ended
}

// advertOf returns an advert of the node of a key, which leads in a term; 0: it does not.
func advertOf(t *testing.T, key ed25519.PrivateKey, term uint64) overlay.Advert {
	t.Helper()
	var epoch uint64
	if term > 0 {
		epoch = overlay.NextEpoch((term-1)<<24, task.PeerIDOf(key.Public().(ed25519.PublicKey)))
	}
	now := time.Now()
	a := overlay.Advert{
		Peer: task.PeerIDOf(key.Public().(ed25519.PublicKey)), Overlay: commons,
		Seq: uint64(now.UnixNano()), Issued: now, Expires: now.Add(member.AdvertLife),
		Slots: 2, Memory: 1 << 32, Epoch: epoch,
	}
	if err := a.Sign(key); err != nil {
		t.Fatal(err)
	}
	return a
}

func frame(t *testing.T, msgs ...message.Message) []byte {
	t.Helper()
	b, err := message.EncodeFrame(msgs)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// gate is a disk whose commits of state wait until it is opened.
func gate() (d *testDisk, open func()) {
	held := make(chan struct{})
	d = newDisk()
	d.hook = func([]string) error {
		<-held
		return nil
	}
	return d, sync.OnceFunc(func() { close(held) })
}

// A submitter offers a job only once it will remember it.
func TestOfferWaitsForDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, open := gate()
		l := startLone(t, d, true)
		l.net.answer(func(task.PeerID, string) ([]byte, error) { return nil, nil }) // the leader is there
		l.net.handler.Advert(advertOf(t, testKey(2), 7))
		submitted := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := l.Submit(ctx, sleepJob(t, l.Node, 1, time.Second))
			submitted <- err
		}()
		offers := func(m *message.Message) bool { return m.Submit != nil }
		time.Sleep(time.Minute)
		if n := l.net.count(offers); n != 0 {
			t.Errorf("%d offers left while the disk had not answered", n)
		}
		open()
		if l.net.count(offers) == 0 {
			t.Error("no offer left once the disk had answered")
		}
		cancel()
		if err := <-submitted; !errors.Is(err, context.Canceled) {
			t.Errorf("Submit without an answer: %v", err)
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// remoteJob returns a job signed by another node, whose blocks the node has.
func (l *lone) remoteJob(t *testing.T, key ed25519.PrivateKey) task.Record {
	t.Helper()
	return l.record(t, key, sleepJob(t, l.Node, 3, time.Second))
}

// record signs a job and keeps its record among the node's blocks.
func (l *lone) record(t *testing.T, key ed25519.PrivateKey, s Submission) task.Record {
	t.Helper()
	job, err := s.File.Job(s.Module, nil, string(commons), time.Now().UTC(), make([]byte, nonceSize))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := task.SignJob(job, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Blocks().PutRecord(t.Context(), rec.Encode()); err != nil {
		t.Fatal(err)
	}
	return rec
}

func (l *lone) hears(t *testing.T, from ed25519.PrivateKey, msgs ...message.Message) {
	t.Helper()
	l.net.handler.Frame(task.PeerIDOf(from.Public().(ed25519.PublicKey)), address(commons, frame(t, msgs...)))
}

// A leader announces its term, and accepts a job, only once both are durable.
func TestLeaderWaitsForDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, open := gate()
		l := startLone(t, d, false)
		if e := l.net.epoch(); e != 0 {
			t.Errorf("term %d was announced while the disk had not answered", e)
		}
		open()
		if e := overlay.Term(l.net.epoch()); e != 1 {
			t.Errorf("term %d was announced, want 1", e)
		}
		held := make(chan struct{})
		d.hook = func(changed []string) error {
			if strings.HasPrefix(changed[0], usualPrefix+"c/") {
				<-held
			}
			return nil
		}
		rec := l.remoteJob(t, testKey(2))
		l.net.handler.Advert(advertOf(t, testKey(2), 0))
		l.hears(t, testKey(2), message.Message{Submit: &message.Submit{Record: rec}})
		accepted := func(m *message.Message) bool { return m.Accepted != nil && m.Accepted.Error == "" }
		if n := l.net.count(accepted); n != 0 {
			t.Error("the job was accepted while the disk had not answered")
		}
		close(held)
		if n := l.net.count(accepted); n != 1 {
			t.Errorf("the job was accepted %d times once the disk had answered", n)
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// A disk that fails ends the node, which says why and promises nothing more.
func TestDiskFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left on device")
		d := newDisk()
		l := startLone(t, d, true)
		l.net.handler.Advert(advertOf(t, testKey(2), 7))
		synctest.Wait()
		d.hook = func([]string) error { return full }
		if _, err := l.Submit(t.Context(), sleepJob(t, l.Node, 1, time.Second)); !errors.Is(err, ErrStopped) {
			t.Errorf("Submit: %v, want ErrStopped", err)
		}
		if err := <-l.ended; !errors.Is(err, full) || !strings.Contains(err.Error(), "saving state") {
			t.Errorf("Run: %v, want one that says that the state could not be saved", err)
		}
		if n := l.net.count(func(m *message.Message) bool { return m.Submit != nil }); n != 0 || !l.net.closed {
			t.Errorf("%d offers left; network closed: %v", n, l.net.closed)
		}
		l.net.handler.Frame(l.ID(), frame(t)) // a late peer is not held up
		if _, err := l.Status(t.Context()); !errors.Is(err, ErrStopped) {
			t.Errorf("Status of a stopped node: %v", err)
		}
	})
}

// A worker that has obeyed a later term than the leader's makes it begin one,
// which is announced: the worker would not listen otherwise.
func TestLaterTermIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		if e := overlay.Term(l.net.epoch()); e != 1 {
			t.Fatalf("term %d, want 1", e)
		}
		l.net.handler.Advert(advertOf(t, testKey(2), 0))
		l.hears(t, testKey(2), message.Message{Report: &message.Report{Epoch: overlay.NextEpoch(40<<24, l.ID()), Slots: 1,
			Full: true}})
		if e := overlay.Term(l.net.epoch()); e != 42 {
			t.Errorf("term %d is announced, want 42", e)
		}
		if st, err := l.Status(t.Context()); err != nil || st.Overlays[0].Term != 42 || st.Overlays[0].Leader != l.ID() {
			t.Errorf("the node itself follows %+v, %v", st.Overlays, err)
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// A member that did not answer for a while counts again when it connects, not
// only with its next advert.
func TestMemberReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), true)
		leader := advertOf(t, testKey(2), 7)
		l.net.answer(func(task.PeerID, string) ([]byte, error) { return nil, nil })
		l.net.handler.Advert(leader)
		known := func() task.PeerID {
			synctest.Wait()
			st, err := l.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return st.Overlays[0].Leader
		}
		l.net.handler.Disconnected(leader.Peer)
		if known() != leader.Peer {
			t.Error("a leader that answers on a new connection was given up")
		}
		l.net.answer(nil)
		l.net.handler.Disconnected(leader.Peer)
		if p := known(); p != "" {
			t.Errorf("the leader is %s after it was lost", p)
		}
		l.net.answer(func(task.PeerID, string) ([]byte, error) { return nil, nil })
		l.net.handler.Connected(leader.Peer)
		if known() != leader.Peer {
			t.Error("the leader has returned and is not followed")
		}
		l.net.answer(nil)
		l.net.handler.Disconnected(leader.Peer)
		synctest.Wait()
		time.Sleep(member.AdvertLife)
		l.net.answer(func(task.PeerID, string) ([]byte, error) { return nil, nil })
		l.net.handler.Connected(leader.Peer)
		if p := known(); p == leader.Peer {
			t.Errorf("%s is followed on the word of an advert that has expired", p)
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// Run ends after everything that the node has begun.
func TestRunWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		release := make(chan struct{})
		if err := l.do(t.Context(), func() { l.spawn(func() { <-release }) }); err != nil {
			t.Fatal(err)
		}
		l.stop()
		synctest.Wait()
		select {
		case err := <-l.ended:
			t.Errorf("Run has ended before its goroutine: %v", err)
		default:
		}
		close(release)
		if err := <-l.ended; err != nil {
			t.Error(err)
		}
	})
}

// A disk whose state cannot be read; its blocks can.
type unreadable struct{ *testDisk }

var errUnreadable = errors.New("input/output error")

func (u unreadable) Query(ctx context.Context, q query.Query) (query.Results, error) {
	if strings.HasPrefix(q.Prefix, statePrefix) {
		return nil, errUnreadable
	}
	return u.testDisk.Query(ctx, q)
}

// A node whose state cannot be read does not start, and leaves the network.
func TestUnreadableState(t *testing.T) {
	cfg, err := Config{DataDir: t.TempDir(), Experiment: Experiment{Runner: RunSleep}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeNet{}
	join := func(p2p.Config, serveFunc) (network, error) { return f, nil }
	_, err = newNode(t.Context(), cfg, ground{testKey(1), unreadable{newDisk()}, join, &exec.Sleeper{}, nil, nil})
	if !errors.Is(err, errUnreadable) || !f.closed {
		t.Errorf("%v; network closed: %v", err, f.closed)
	}
}
