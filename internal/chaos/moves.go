package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"godwit/internal/pause"
)

const (
	// movesNodes are two between which a guest goes to and fro, and one that leads.
	movesNodes = 3
	// slowDelay is that of the slow network, one way.
	slowDelay = 20 * time.Millisecond
	// lookOften is how often a guest is looked at: standing still is measured to this.
	lookOften = time.Millisecond
	// restless is how long a guest that is moved is left where it is, at least.
	restless = 8 * time.Second
	// schedule is when the first notice comes, after the nodes start: they find each
	// other, and the guest begins and fills its memory.
	schedule = 20 * time.Second
	// awaitedMost is how long what should take a moment may take on a machine that has
	// much else to do.
	awaitedMost = time.Minute
	// lastWords is how long the node that was left is looked at still.
	lastWords = 500 * time.Millisecond
)

// moves moves guests to and fro between two nodes on loopback.
func moves(ctx context.Context, t *trial) error {
	if err := canPeek(); err != nil {
		return err
	}
	t.wasm = true
	if err := t.addLocal(movesNodes); err != nil {
		return err
	}
	return t.move(ctx, 0)
}

// slowMoves moves them between network namespaces.
func slowMoves(ctx context.Context, t *trial) error {
	if err := errors.Join(canPeek(), canSplit()); err != nil {
		return err
	}
	t.wasm = true
	const megabit = 1e6 / 8
	t.linkRate = t.rate * megabit
	if _, err := t.addRouted(ctx); err != nil {
		return err
	}
	t.say("%d namespaces, %v apart, %g Mbit/s out of each", len(t.nodes), t.delay, t.rate)
	return t.move(ctx, t.linkRate)
}

// move moves guests of every size, over a network of so many bytes a second; 0
// where nothing bounds it.
func (t *trial) move(ctx context.Context, bandwidth float64) error {
	sizes, err := t.mebibytes()
	if err != nil {
		return err
	}
	// The one that leads runs nothing: a guest has one place to go.
	if t.nodes[0].rules, err = t.ruled("leader.yaml", 0); err != nil {
		return err
	}
	for _, n := range t.nodes[1:] {
		if n.rules, err = t.ruled("worker.yaml", 1); err != nil {
			return err
		}
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	if err := t.found(ctx, t.policy, 1); err != nil {
		return err
	}
	for _, mebibytes := range sizes {
		if err := t.moveGuest(ctx, mebibytes, bandwidth); err != nil {
			return err
		}
	}
	if err := t.settle(ctx, t.limit); err != nil {
		return err
	}
	_, broken := t.tally.Falls()
	t.report.fencing(broken)
	return nil
}

// A mover moves one guest.
type mover struct {
	*trial
	tide      tide
	odometer  *odometer
	task      uint64
	bandwidth float64       // bytes a second; 0: no bound
	period    time.Duration // between the notices of one node and those of the other
	from      time.Time     // the first notice
	trips     []travel
}

// A travel is one move of a guest.
type travel struct {
	passage
	took  time.Duration // from the notice until it ran elsewhere
	stood time.Duration // from the notice until it stood still
	gone  time.Duration // from the notice until its process ended there, and its memory was free
	pause time.Duration // the longest that it stood still in between, while its state was copied
	bytes int64         // that the destination received meanwhile
	all   int64         // that all nodes received
}

// moveGuest has a guest moved as often as was asked for.
func (t *trial) moveGuest(ctx context.Context, mebibytes int, bandwidth float64) error {
	m := &mover{trial: t, bandwidth: bandwidth, period: 2*restless + periodOf(mebibytes, bandwidth)}
	work := schedule + time.Duration(t.moves+1)*m.period
	var err error
	if m.tide, err = t.newTide(ctx, mebibytes, work); err != nil {
		return err
	}
	m.odometer = newOdometer(m.tide.rate())
	t.watcher = newWatcher(m.odometer, lookOften, m.tide.memory)
	watched, stop := context.WithCancel(ctx)
	defer stop()
	if err := m.restart(ctx); err != nil {
		return err
	}
	t.watching.Go(func() { t.watcher.run(watched) })
	name := fmt.Sprintf("guest%d", mebibytes)
	j, err := t.submitLabour(ctx, t.nodes[0], name, 1, m.tide.labour(time.Hour), acceptLimit)
	if err != nil {
		return err
	}
	var failed error // the first
	for i := range t.moves {
		if err := m.once(ctx); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil && failed == nil {
			failed = fmt.Errorf("move %d: %w", i+1, err)
		}
	}
	t.report.must(fmt.Sprintf("%s: each of %d moves comes to something", name, t.moves), failed)
	m.show(mebibytes)
	if err := t.over(ctx, j); err != nil {
		return err
	}
	if st, err := j.at.ask.job(ctx, j.id); err == nil {
		m.told(mebibytes, st)
	}
	return nil
}

// told adds what the nodes themselves tell of the moves.
func (m *mover) told(mebibytes int, st jobView) {
	var down []time.Duration
	var bytes int64
	for _, k := range st.List {
		for i := range k.Attempts {
			if a := &k.Attempts[i]; a.handed() {
				down = append(down, time.Duration(a.DownS*float64(time.Second)))
				bytes += a.MovedBytes
			}
		}
	}
	s := spreadOf(down)
	m.report.show(fmt.Sprintf("  %d MiB, as the nodes tell it: handed over, still", mebibytes), "", "%d, %.1f, %.1f ms",
		s.N, s.Median*1e3, s.Worst*1e3)
	if s.N > 0 {
		m.report.show("    carried, over the state", "", "mean x %.3f",
			float64(bytes)/float64(s.N)/(float64(mebibytes)*mebibyte))
	}
}

// periodOf is how long a guest's move may take: four times what its memory takes to
// be carried, for it may be carried by way of the leader.
func periodOf(mebibytes int, bandwidth float64) time.Duration {
	const least, carried = 10 * time.Second, 4
	if bandwidth == 0 {
		return least
	}
	return least + time.Duration(carried*float64(mebibytes)*mebibyte/bandwidth*float64(time.Second))
}

// restart starts the two workers again, with owners who give notice in turns where
// that is asked for.
func (m *mover) restart(ctx context.Context) error {
	m.watcher.node(m.nodes[0].proc.cmd.Process.Pid, 0)
	m.from = time.Now().Add(schedule).Truncate(time.Second)
	for i, n := range m.nodes[1:] {
		if err := n.stop(); err != nil {
			return err
		}
		if m.leave == leaveNotice {
			n.replay = filepath.Join(m.dir, fmt.Sprintf("owner%d.csv", n.index))
			if err := os.WriteFile(n.replay, []byte(m.owner(i)), 0o600); err != nil {
				return fmt.Errorf("writing what an owner does: %w", err)
			}
		}
		if err := m.start(ctx, n); err != nil {
			return err
		}
	}
	return m.awaitWhole(ctx, gatherLimit)
}

// notice is when the i-th worker gives its k-th notice; it takes it back half a
// period later.
func (m *mover) notice(i, k int) time.Time { return m.from.Add(time.Duration(2*k+i) * m.period) }

// owner writes what the i-th worker's owner does, as a trace.
func (m *mover) owner(i int) string {
	begin := m.from.Add(-2 * schedule)
	at := func(t time.Time) float64 { return t.Sub(begin).Seconds() }
	text, free := fmt.Sprintf("# start: %s\nhost,start_s,end_s,state\n", begin.UTC().Format(time.RFC3339)), 0.0
	for k := range m.moves + 2 {
		n := m.notice(i, k)
		text += fmt.Sprintf("owner,%g,%g,available\nowner,%g,%g,leaving\n", free, at(n), at(n), at(n.Add(m.period/2)))
		free = at(n.Add(m.period / 2))
	}
	return text + fmt.Sprintf("owner,%g,%g,available\n", free, free+m.limit.Seconds())
}

// unwelcome says why the leader has no place for a guest that leaves a node; "" where
// it has one.
func (m *mover) unwelcome(ctx context.Context, from int) string {
	list, err := m.nodes[0].ask.peers(ctx)
	if err != nil {
		return err.Error()
	}
	for _, p := range list {
		for _, n := range m.nodes[1:] {
			if n.index != from && n.peer == p.Peer && (p.State != "available" || p.Free < 1) {
				return fmt.Sprintf("node %d is %s to the leader and has %d free slots", n.index, p.State, p.Free)
			}
		}
	}
	return ""
}

// where returns the stint that the guest is on, once it advances somewhere after
// that time.
func (m *mover) where(ctx context.Context, after time.Time, limit time.Duration) (s stint, err error) {
	err = until(ctx, limit, func() string {
		list := m.odometer.Of(m.task)
		if len(list) == 0 {
			return "the guest is nowhere seen to run"
		}
		s = list[len(list)-1]
		if s.ended.Before(after) {
			return fmt.Sprintf("the guest was last seen to advance %.1f s ago, at node %d", time.Since(s.ended).Seconds(),
				s.node)
		}
		return ""
	})
	return s, err
}

// once moves the guest once.
func (m *mover) once(ctx context.Context) error {
	at, err := m.where(ctx, time.Now(), m.period)
	if err != nil {
		return err
	}
	if err := pause.For(ctx, restless); err != nil {
		return err
	}
	if err := until(ctx, awaitedMost, func() string { return m.unwelcome(ctx, at.node) }); err != nil {
		return err
	}
	before := m.received(ctx)
	noticed, err := m.leaveNode(ctx, m.nodes[at.node])
	if err != nil {
		return err
	}
	was := len(m.odometer.Of(m.task))
	err = until(ctx, max(m.period, awaitedMost), func() string {
		if len(m.odometer.Of(m.task)) > was {
			return ""
		}
		return fmt.Sprintf("the guest, told to leave node %d, does not run elsewhere", at.node)
	})
	if err != nil {
		return errors.Join(err, m.returned(ctx, m.nodes[at.node]))
	}
	if err := pause.For(ctx, lastWords); err != nil {
		return err
	}
	list := m.odometer.Of(m.task)
	p := passages(list, nil)
	if len(p) == 0 || list[len(list)-1].node == at.node {
		err := fmt.Errorf("the guest ran in two places at once, or again at node %d: %+v", at.node,
			list[max(0, len(list)-2):])
		m.say("%v", err)
		return errors.Join(err, m.returned(ctx, m.nodes[at.node]))
	}
	tr := travel{passage: p[len(p)-1], took: list[len(list)-1].began.Sub(noticed)}
	tr.pause = m.odometer.Stillest(m.task, tr.from, noticed, tr.left)
	tr.stood, tr.gone = max(0, tr.left.Sub(noticed)), tr.passage.gone.Sub(noticed)
	for i, n := range m.received(ctx) {
		tr.all += n - before[i]
		if i == tr.to {
			tr.bytes = n - before[i]
		}
	}
	m.trips = append(m.trips, tr)
	m.say("node %d to node %d: still for %.1f ms, %.2f s after the notice, before that for %.1f ms, %.1f MiB received "+
		"there, %d rounds again",
		tr.from, tr.to, ms(tr.still), tr.took.Seconds(), ms(tr.pause), float64(tr.bytes)/mebibyte, tr.repeated)
	return m.returned(ctx, m.nodes[at.node])
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// received returns how many bytes each node received so far; 0 of one that is down.
func (m *mover) received(ctx context.Context) []int64 {
	out := make([]int64, len(m.nodes))
	for i, n := range m.nodes {
		if s, err := n.ask.status(ctx); err == nil {
			out[i] = s.Rx
		}
	}
	return out
}

// leaveNode has the guest's node be left, and returns when that was said.
func (m *mover) leaveNode(ctx context.Context, n *node) (time.Time, error) {
	switch now := time.Now(); m.leave {
	case leavePause:
		return now, n.ask.pause(ctx, 0)
	case leaveDrain:
		return now, n.ask.drain(ctx)
	}
	for k := range m.moves + 2 {
		at := m.notice(n.index-1, k)
		if wait := time.Until(at); wait > 0 {
			return at, pause.For(ctx, wait)
		}
	}
	return time.Time{}, errors.New("the owner gives no more notices")
}

// returned undoes what made the guest leave.
func (m *mover) returned(ctx context.Context, n *node) error {
	if m.leave == leaveNotice { // it is taken back by itself
		return nil
	}
	return n.ask.resume(ctx)
}

// over waits until a job has ended.
func (t *trial) over(ctx context.Context, j *job) error {
	err := until(ctx, t.limit, func() string {
		if end, _, _ := j.ended(); end.IsZero() {
			return j.name + " is not over"
		}
		return ""
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.report.must(j.name+" ends", err)
	return nil
}

// The targets on loopback, by MiB, and those of a slow network: three times what is
// rewritten in a second takes to be carried, and so much more.
var loopbackStill = map[int]time.Duration{64: 60 * time.Millisecond, 512: 250 * time.Millisecond}

const (
	slowStill      = 200 * time.Millisecond
	carriedAtMost  = 3
	stillAllMost   = "at most %.0f ms"
	repeatedIsNone = "none"
)

// stillTarget is how long a guest may stand still; 0 where nothing is asked.
func stillTarget(mebibytes int, bandwidth float64) time.Duration {
	if bandwidth == 0 {
		return loopbackStill[mebibytes]
	}
	return slowStill + time.Duration(carriedAtMost*rewritten*float64(mebibytes)*mebibyte/bandwidth*float64(time.Second))
}

// show adds what was measured of a guest.
func (m *mover) show(mebibytes int) {
	var still, took, pause []time.Duration
	var bytes, all int64
	var most float64
	var repeated uint64
	size := float64(mebibytes) * mebibyte
	for _, tr := range m.trips {
		still, took, pause = append(still, tr.still), append(took, tr.took), append(pause, tr.pause)
		bytes, all, repeated = bytes+tr.bytes, all+tr.all, repeated+tr.repeated
		most = max(most, float64(tr.bytes)/size)
	}
	name, target := fmt.Sprintf("%d MiB", mebibytes), ""
	limit := stillTarget(mebibytes, m.bandwidth)
	if m.leave == leavePause { // it stands still for the grace, by the owner's word
		limit = 0
	}
	if limit > 0 {
		target = fmt.Sprintf(stillAllMost, ms(limit))
	}
	s, k := spreadOf(still), spreadOf(took)
	m.report.show(name+": stands still, moves, median, worst", target, "%d, %.1f, %.1f ms", s.N, s.Median*1e3, s.Worst*1e3)
	m.report.show("  from the notice until it runs elsewhere", "", "%.2f, %.2f s", k.Median, k.Worst)
	q := spreadOf(pause)
	m.report.show("  the longest that it stood still in between", "", "%.1f, %.1f ms", q.Median*1e3, q.Worst*1e3)
	m.obeyed(mebibytes)
	if n := float64(len(m.trips)); n > 0 {
		m.report.show("  received by the destination, over the state", "", "mean x %.3f, most x %.3f",
			float64(bytes)/n/size, most)
		m.report.show("  received by all nodes, over the state", "", "mean x %.3f", float64(all)/n/size)
	}
	m.report.show("  rounds run again after a move, CPU", repeatedIsNone, "%d, %.2f s", repeated,
		m.tide.cpu(repeated).Seconds())
	if limit > 0 {
		m.report.expect(fmt.Sprintf("a guest of %s stands still for %s", name, target), s.N == m.moves &&
			s.Worst <= limit.Seconds(), "%d moves, worst %.1f ms", s.N, s.Worst*1e3)
	}
	m.report.expect(fmt.Sprintf("a guest of %s runs nothing twice", name), repeated == 0, "%d rounds", repeated)
}

const (
	// stoodMost is how long a guest may run on after its owner's return.
	stoodMost = 100 * time.Millisecond
	// goneMost is how long after the grace a guest of at most goneMebibytes may be
	// there still.
	goneMost      = 2 * time.Second
	goneMebibytes = 64
)

// obeyed adds how soon the guest stood still and was gone, where its owner's word
// was that nothing runs.
func (m *mover) obeyed(mebibytes int) {
	if m.leave != leavePause {
		return
	}
	var stood, gone []time.Duration
	for _, tr := range m.trips {
		stood, gone = append(stood, tr.stood), append(gone, tr.gone)
	}
	s, g := spreadOf(stood), spreadOf(gone)
	m.report.show("  from its owner's return until it stands still", fmt.Sprintf(stillAllMost, ms(stoodMost)),
		"%.1f, %.1f ms", s.Median*1e3, s.Worst*1e3)
	target, asked := "", mebibytes <= goneMebibytes && m.bandwidth == 0
	if asked {
		target = fmt.Sprintf("at most %.1f s", (m.grace + goneMost).Seconds())
	}
	m.report.show("  until its process is gone, and its memory free", target, "%.2f, %.2f s", g.Median, g.Worst)
	m.report.expect(fmt.Sprintf("a guest of %d MiB stands still at its owner's return", mebibytes),
		s.Worst <= stoodMost.Seconds(), "worst %.1f ms", s.Worst*1e3)
	if asked {
		m.report.expect(fmt.Sprintf("and is gone %v after the grace of %v", goneMost, m.grace),
			g.Worst <= (m.grace+goneMost).Seconds(), "worst %.2f s", g.Worst)
	}
}
