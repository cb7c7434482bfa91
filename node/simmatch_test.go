package node

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/overlay"
	"godwit/owner"
	"godwit/owner/sensor"
	"godwit/scheduler"
	"godwit/sim"
	simulated "godwit/sim/swarm"
	"godwit/task"
	"godwit/trace"
)

// A matchCase is one scenario that is run twice: by live nodes and by the
// simulator.
type matchCase struct {
	name                 string
	placement, migration string
	grace                time.Duration
	hosts                int
	length               time.Duration
	jobs                 []matchJob
	changes              []change
	loads                []matchLoad
	ends                 []simulated.Ending // by host, of those that become Unavailable
	detect               time.Duration      // until the network closes a silent connection
	shows                []string           // what must have happened
	// priorities count, so that tasks wait at members behind those of others.
	priorities bool
	cells      overlay.CellRule // the zero rule: one group for all
	// together is how near to each other decisions may be whose order is not compared: replicas of one
	// moment at several members. 0: all are.
	together time.Duration
}

// A matchJob is a job that comes.
type matchJob struct {
	at    time.Duration
	node  int
	tasks uint64
	work  time.Duration
}

// A matchLoad is when others begin to use a share of a host's CPU.
type matchLoad struct {
	at    time.Duration
	host  int
	share float64
}

// Of all hosts of a case.
const (
	matchCores  = 1
	matchMemory = 1 << 32
	matchSaves  = 20 * time.Second // between checkpoints
	matchDelay  = 10 * time.Millisecond
	matchModule = "not run"
)

// matchLeftOut are the decisions that are not compared: that a coordinator which
// is none any more retires its copy of the ledger, and drops it. One that goes hears
// of it, or is gone a moment before.
var matchLeftOut = []string{"forgotten", "retired"}

// A happening is a decision of a machine or a change of who leads.
type happening struct {
	at   time.Time
	host int
	what string
}

func decision(id, action string, peer task.PeerID, reason string) string {
	job, index, _ := strings.Cut(id, "/")
	return strings.TrimSpace(fmt.Sprintf("%s/%s %s %s %s", shortPeer(task.PeerID(job)), index, action, shortPeer(peer),
		reason))
}

func leads(epoch uint64) string {
	if epoch == 0 {
		return "leads no longer"
	}
	return fmt.Sprintf("leads in term %d (%d)", overlay.Term(epoch), epoch)
}

// matchCell is what a node says that comes into a cell, with its bits.
const matchCell = "in another cell"

func entered(cell string) string { return "is in cell " + cell }

// draws are what each host draws: another moment for each, the same on both drivers.
func (c *matchCase) draws() (out []float64) {
	for i := range c.hosts {
		out = append(out, (float64(i)+.5)/float64(c.hosts))
	}
	return out
}

func (c *matchCase) keys() (out []ed25519.PrivateKey) {
	for i := range c.hosts {
		out = append(out, testnet.Key(i))
	}
	return out
}

// rules is the overlay's manifest, founded by the first host.
func (c *matchCase) rules(t *testing.T) overlay.Manifest {
	t.Helper()
	key := testnet.Key(0)
	m := overlay.Manifest{
		Name: "match", Founder: task.PeerIDOf(key.Public().(ed25519.PublicKey)),
		Founded:   time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC),
		Placement: c.placement, Migration: c.migration, Priorities: c.priorities,
	}
	if err := m.Sign(key); err != nil {
		t.Fatal(err)
	}
	return m
}

// job is the k-th job as it is signed.
func (c *matchCase) job(k int, begun time.Time, of overlay.ID) task.Job {
	j := c.jobs[k]
	nonce := make([]byte, task.NonceSize)
	binary.BigEndian.PutUint64(nonce, uint64(k))
	return task.Job{
		Name: fmt.Sprintf("job%d", k), Overlay: string(of), Module: task.RawCID([]byte(matchModule)),
		Outputs: []string{"stdout"},
		Sweep:   task.Sweep{Repeat: j.tasks}, Work: j.work, Memory: 1 << 20, Replicas: 1, Retries: 1,
		Checkpoint: task.Checkpoint{Every: matchSaves}, Submitted: task.At(begun.Add(j.at)), Nonce: nonce,
	}
}

// A matchSpell is a host's state from a time on.
type matchSpell struct {
	at    time.Duration
	state trace.State
	cpu   float64
}

// spells are a host's history.
func (c *matchCase) spells(host int) []matchSpell {
	out := []matchSpell{{0, trace.Available, 1}}
	for _, x := range c.changes {
		if x.host == host {
			out = append(out, matchSpell{x.at, x.state, 1})
		}
	}
	for _, l := range c.loads {
		if l.host == host { // while it is available
			out = append(out, matchSpell{l.at, trace.Available, 1 - l.share})
		}
	}
	slices.SortStableFunc(out, func(a, b matchSpell) int { return cmp.Compare(a.at, b.at) })
	return out
}

// simulate runs the scenario in the simulator.
func (c *matchCase) simulate(t *testing.T, begun time.Time, m overlay.Manifest) (out []happening) {
	t.Helper()
	tr := &trace.Trace{Name: "match", Synthetic: "by hand", Start: begun, End: begun.Add(c.length)}
	for i := range c.hosts {
		h := &trace.History{}
		for _, x := range c.spells(i) {
			if err := h.Append(begun.Add(x.at), x.state, x.cpu); err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(tr.End)
		tr.Hosts = append(tr.Hosts, trace.Host{History: h})
	}
	s := &sim.Scenario{
		Trace: tr, Placement: c.placement, Migration: c.migration,
		Hosts:       sim.HostRules{Slots: matchCores, Memory: matchMemory, Grace: c.grace, Speeds: sim.Traced},
		Network:     sim.Network{Delay: matchDelay, Detect: c.detect},
		Checkpoints: sim.Checkpoints{Every: matchSaves, Away: true},
		Workload: sim.Workload{Requeue: true, Classes: []sim.Class{ // none: all are the script's
			{Arrival: sim.AtTimes, Times: []time.Duration{2 * c.length}, Work: time.Second},
		}},
	}
	script := simulated.Script{Keys: c.keys(), Ends: c.ends, Draws: c.draws()}
	for k, j := range c.jobs {
		script.Jobs = append(script.Jobs, simulated.Job{At: j.at, Node: j.node, Spec: c.job(k, begun, m.ID())})
	}
	end := begun.Add(c.length)
	add := func(h happening) {
		if !h.at.After(end) {
			out = append(out, h)
		}
	}
	_, err := simulated.Run(s, simulated.Options{
		Script: script, Manifest: m, Gossip: 20 * time.Millisecond, Walled: true, Config: handing(), Cells: c.cells,
		Watch: func(d simulated.Decision) {
			if slices.Contains(matchLeftOut, d.Action) {
				return
			}
			add(happening{d.At, d.Node, decision(d.Task.String(), d.Action, d.Peer, d.Reason)})
		},
		Led: func(l simulated.Leading) { add(happening{l.At, l.Node, leads(l.Epoch)}) },
		Noticed: func(n simulated.Notice) {
			if n.Text == matchCell {
				add(happening{n.At, n.Node, entered(n.Args[1].(string))}) // the cell comes first
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.settled(out)
}

// handing is the configuration of nodes that hand tasks over.
func handing() scheduler.Config {
	cfg := scheduler.Default()
	cfg.Worker.HandOver = true
	cfg.Submitter.UnprovenPart = 1 // else cells get tasks whenever results arrive, whose order hangs on milliseconds
	return cfg
}

// live runs the scenario on live nodes, in a bubble.
func (c *matchCase) live(t *testing.T) (begun time.Time, out []happening) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwarm(t, c.hosts)
		book := &matchBook{}
		begun = time.Now().UTC().Truncate(time.Second).Add(time.Second)
		for i, p := range s.peers {
			c.setUp(p, book, i, begun)
		}
		<-time.After(time.Until(begun))
		for _, p := range s.peers {
			p.start()
		}
		c.replay(t, s, begun)
		<-time.After(time.Until(begun.Add(c.length)))
		book.mu.Lock()
		out = c.settled(book.notes)
		book.mu.Unlock()
	})
	return begun, out
}

// setUp has a host serve the scenario's overlay alone, know all the others and
// sleep in place of work, with states that are saved.
func (c *matchCase) setUp(p *peer, book *matchBook, i int, begun time.Time) {
	t := p.s.t
	for k := range c.hosts {
		if k != i {
			p.cfg.Bootstrap = append(p.cfg.Bootstrap, testnet.Addr(k))
		}
	}
	p.cfg.Experiment.UnprovenPart = handing().Submitter.UnprovenPart
	p.cfg.Log, p.cfg.Cores, p.cfg.Memory = slog.New(matchLog{book, i}), matchCores, matchMemory
	p.draw = func() float64 { return c.draws()[i] }
	if c.cells.On() {
		p.cfg.Cells = c.cells
	}
	m := c.rules(t)
	r, err := (&joined{First: m, Manifest: m, Share: usualShare}).record()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal([]joinedRecord{r})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.cfg.joinedFile(), b, 0o600); err != nil {
		t.Fatal(err)
	}
	runs := &stateRunner{}
	p.other = runs
	p.before = func(n *Node) {
		n.speed = 1
		rules := owner.Everything()
		rules.Grace = c.grace
		load := &scriptedLoad{c: c, host: i, begun: begun, runs: runs}
		n.monitor, err = owner.NewMonitor(owner.Config{
			Rules: rules, Sensors: []sensor.Sensor{load},
			Machine: owner.Machine{Cores: n.cfg.Cores, Memory: totalMemory(), Lent: n.cfg.Memory},
			Stop:    runs.Pause, Continue: runs.Resume,
			Changed: func(d owner.Decision) { n.post(post{call: func() { n.decided(d) }}) },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A scriptedLoad is a sensor that sees what the scenario says of the CPU's use.
type scriptedLoad struct {
	c     *matchCase
	host  int
	begun time.Time
	runs  *stateRunner
}

// Name implements sensor.Sensor.
func (*scriptedLoad) Name() string { return "scripted" }

// Kinds implements sensor.Sensor.
func (*scriptedLoad) Kinds() []sensor.Kind { return []sensor.Kind{sensor.Load} }

// Run implements sensor.Sensor.
func (l *scriptedLoad) Run(ctx context.Context, report func(sensor.Reading)) {
	for _, x := range append([]matchLoad{{0, l.host, 0}}, l.c.loads...) {
		if x.host != l.host {
			continue
		}
		select {
		case <-time.After(time.Until(l.begun.Add(x.at))):
			l.runs.setRate(1 - x.share)
			report(sensor.Reading{Sensor: l.Name(), Kind: sensor.Load, At: time.Now(), Value: x.share})
		case <-ctx.Done():
			return
		}
	}
}

// replay does what the scenario says, each at its time.
func (c *matchCase) replay(t *testing.T, s *swarm, begun time.Time) {
	type act struct {
		at time.Duration
		do func()
	}
	var acts []act
	m := c.rules(t)
	for k, j := range c.jobs {
		acts = append(acts, act{j.at, func() {
			spec := c.job(k, begun, m.ID())
			go s.peers[j.node].offerSpec(t, &spec, m.ID())
		}})
	}
	state := make([]trace.State, c.hosts)
	for _, x := range c.changes {
		acts = append(acts, act{x.at, func() {
			p := s.peers[x.host]
			before := state[x.host]
			state[x.host] = x.state
			var err error
			switch {
			case x.state == trace.Unavailable && c.ends[x.host] == simulated.Goodbye:
				go p.stop()
			case x.state == trace.Unavailable:
				p.host.Mute()
				p.crash()
			case x.state == trace.UserPresent:
				err = p.Pause(t.Context(), 0)
			case before == trace.UserPresent:
				err = p.Resume(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		}})
	}
	slices.SortStableFunc(acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	for _, a := range acts {
		<-time.After(time.Until(begun.Add(a.at)))
		a.do()
	}
}

// offerSpec signs a job as Submit does, and hands it in.
func (p *peer) offerSpec(t *testing.T, spec *task.Job, id overlay.ID) {
	n := p.Node
	rec, err := task.SignJob(spec, n.key)
	if err != nil {
		t.Error(err)
		return
	}
	if got, err := n.Blocks().ImportBytes(t.Context(), []byte(matchModule)); err != nil || got != spec.Module {
		t.Errorf("the module is %s, %v", got, err)
	}
	if _, err := n.Blocks().PutRecord(t.Context(), rec.Encode()); err != nil {
		t.Error(err)
		return
	}
	var m *membership
	if err := n.do(t.Context(), func() { m = n.members[id] }); err != nil {
		t.Error(err)
		return
	}
	if err := n.offer(t.Context(), m, rec.ID(), rec, nil); err != nil {
		t.Logf("job %s: %v", rec.ID(), err)
	}
}

// matching compares what happened, and says how far apart in time it did at
// most; "" if the one is as the other.
func matching(live, simulation []happening, begun time.Time) (why string, apart time.Duration) {
	for i := range max(len(live), len(simulation)) {
		if i >= len(live) || i >= len(simulation) || live[i].host != simulation[i].host ||
			live[i].what != simulation[i].what {
			return sideBySide(live, simulation, begun, i), 0
		}
		apart = max(apart, live[i].at.Sub(simulation[i].at).Abs())
	}
	return "", apart
}

// sideBySide prints both, from shortly before the first that differs.
func sideBySide(live, simulation []happening, begun time.Time, at int) string {
	var b strings.Builder
	for i := range max(len(live), len(simulation)) {
		l, s := "-", "-"
		if i < len(live) {
			l = live[i].text(begun)
		}
		if i < len(simulation) {
			s = simulation[i].text(begun)
		}
		switch {
		case i == at:
			fmt.Fprintf(&b, ">> live %s\n   sim  %s\n", l, s)
		case i < len(live) && i < len(simulation) && live[i].what == simulation[i].what:
			fmt.Fprintf(&b, "   %+6dms %s\n", simulation[i].at.Sub(live[i].at).Milliseconds(), l)
		default:
			fmt.Fprintf(&b, "   live %s\n   sim  %s\n", l, s)
		}
	}
	return b.String()
}

func (h *happening) text(begun time.Time) string {
	return fmt.Sprintf("%8.3f %d %s", h.at.Sub(begun).Seconds(), h.host, h.what)
}

var matchCases = []matchCase{{
	name: "fcfs and reactive", priorities: true, shows: []string{"done", "stays", "recalled", "moving", "moved",
		"the worker is gone: it did not take a renewal", "not waited for", "term 2"}, placement: "fcfs",
	migration: "reactive",
	grace:     20 * time.Second, hosts: 6, length: 275 * time.Second, detect: 30 * time.Second,
	ends: []simulated.Ending{1: simulated.Goodbye, 2: simulated.Crash, 3: simulated.Crash, 5: 0},
	changes: []change{
		{50 * time.Second, 0, trace.UserPresent}, // nobody is idle: its task stays, and is given back after the grace
		{112 * time.Second, 0, trace.Available},
		{133400 * time.Millisecond, 2, trace.Unavailable}, // dies with a task
		{167 * time.Second, 4, trace.UserPresent},         // its task moves, from its last checkpoint
		{182 * time.Second, 4, trace.Available},
		{193 * time.Second, 1, trace.Unavailable}, // says goodbye; its task moves with its state
		{203 * time.Second, 3, trace.Unavailable}, // the leader dies, with a task
	},
	jobs: []matchJob{
		{at: 20 * time.Second, node: 1, tasks: 1, work: 45 * time.Second},
		{at: 23 * time.Second, node: 2, tasks: 1, work: 70 * time.Second},
		{at: 27800 * time.Millisecond, node: 4, tasks: 1, work: 90 * time.Second},
		{at: 31500 * time.Millisecond, node: 0, tasks: 1, work: 60 * time.Second},
		{at: 36300 * time.Millisecond, node: 5, tasks: 1, work: 190 * time.Second},
		{at: 38700 * time.Millisecond, node: 1, tasks: 3, work: 50 * time.Second},
		{at: 125 * time.Second, node: 4, tasks: 1, work: 100 * time.Second},
		{at: 129500 * time.Millisecond, node: 4, tasks: 1, work: 110 * time.Second},
		{at: 144 * time.Second, node: 4, tasks: 1, work: 78 * time.Second},
		{at: 231 * time.Second, node: 0, tasks: 1, work: 15 * time.Second},
		{at: 262 * time.Second, node: 5, tasks: 2, work: 90 * time.Second},
	},
}, {
	name: "fcfspp and cbr", shows: []string{"done", "stays", "moving", "moved", "leads no longer", "term 3"},
	placement: "fcfspp:t=0.5", migration: "cbr:threshold=50,interval=20s",
	grace: 15 * time.Second, hosts: 6, length: 240 * time.Second, detect: 30 * time.Second,
	ends:  []simulated.Ending{1: simulated.Goodbye, 2: simulated.Goodbye, 3: simulated.Goodbye, 5: 0},
	loads: []matchLoad{{66 * time.Second, 4, 0.75}}, // its next task moves with its state
	changes: []change{
		{90 * time.Second, 5, trace.UserPresent},  // its task has none of the CPU, and moves from its last checkpoint
		{131 * time.Second, 1, trace.Unavailable}, // the leader says goodbye
		{143 * time.Second, 2, trace.Unavailable}, // says goodbye, with nothing to hand over
		{150 * time.Second, 5, trace.Available},
		{160 * time.Second, 3, trace.Unavailable}, // the next leader says goodbye
	},
	jobs: []matchJob{
		{at: 20 * time.Second, node: 1, tasks: 1, work: 37 * time.Second},
		{at: 24500 * time.Millisecond, node: 2, tasks: 1, work: 200 * time.Second},
		{at: 29 * time.Second, node: 4, tasks: 1, work: 90 * time.Second},
		{at: 33 * time.Second, node: 4, tasks: 1, work: 94 * time.Second},
		{at: 37300 * time.Millisecond, node: 4, tasks: 1, work: 120 * time.Second},
		{at: 190 * time.Second, node: 0, tasks: 1, work: 120 * time.Second},
		{at: 193400 * time.Millisecond, node: 5, tasks: 1, work: 30 * time.Second},
	},
}, {
	name: "an idle follower goes", placement: "fcfs", migration: "reactive",
	grace: 20 * time.Second, hosts: 6, length: 60 * time.Second, detect: 30 * time.Second,
	ends:    []simulated.Ending{2: simulated.Goodbye, 5: 0},
	changes: []change{{31 * time.Second, 2, trace.Unavailable}}, // which all hear, and nobody has to find out
	jobs: []matchJob{
		// saves its state when the follower has just gone
		{at: 12500 * time.Millisecond, node: 1, tasks: 1, work: 40 * time.Second},
		{at: 40 * time.Second, node: 4, tasks: 3, work: 60 * time.Second},
	},
	shows: []string{"done"},
}, matchCells}

// mostApart bounds how far apart in time the same decision may be: messages of a
// live swarm take the network's delay, and now and then the round trips of a
// stream that opens, or of a packet that is repeated.
const mostApart = 200 * time.Millisecond

// The simulator decides what live nodes decide, in the same order. The scenarios'
// events, ends of tasks and checkpoints are most of a second apart, so that the
// order hangs on nothing that takes milliseconds.
func TestSimMatchesLive(t *testing.T) {
	if raceEnabled {
		t.Skip("too slow under the race detector: run without it")
	}
	for _, c := range matchCases {
		t.Run(c.name, func(t *testing.T) {
			begun, live := c.live(t)
			simulation := c.simulate(t, begun, c.rules(t))
			why, apart := matching(live, simulation, begun)
			if why != "" {
				t.Fatalf("live and simulated decisions differ:\n%s", why)
			}
			if apart > mostApart {
				t.Errorf("a decision is %v apart, at most %v is due to the network", apart, mostApart)
			}
			t.Logf("%d decisions, at most %v apart", len(live), apart)
			for _, what := range c.shows {
				if !slices.ContainsFunc(live, func(h happening) bool { return strings.Contains(h.what, what) }) {
					t.Errorf("nothing happened that is %q:\n%s", what, sideBySide(live, simulation, begun, -1))
				}
			}
			c.unlike(t, begun, live)
		})
	}
}

// unlike checks that a simulation of something else is told from what happened.
func (c matchCase) unlike(t *testing.T, begun time.Time, live []happening) {
	t.Helper()
	others := map[string]func(c *matchCase){
		"another placement": func(c *matchCase) { c.placement = "fcfs:order=turn,ahead=yes" },
		"one job less":      func(c *matchCase) { c.jobs = c.jobs[:len(c.jobs)-1] },
	}
	if slices.Contains(c.shows, "moved") {
		others["no migration"] = func(c *matchCase) { c.migration = "none" }
	}
	for i, x := range c.changes {
		others[fmt.Sprintf("without what happens at %v", x.at)] = func(c *matchCase) {
			c.changes = slices.Delete(slices.Clone(c.changes), i, i+1)
		}
	}
	for what, change := range others {
		other := c
		change(&other)
		if why, _ := matching(live, other.simulate(t, begun, c.rules(t)), begun); why == "" {
			t.Errorf("%s: the decisions are the same all the same", what)
		}
	}
}
