package node

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"godwit/task"
	"godwit/trace"
)

// A churn is a swarm whose nodes come and go as a script says, while jobs are
// handed in. One goroutine does all that.
type churn struct {
	*swarm
	rng    *rand.Rand
	book   *leadBook
	hosts  []*phone
	jobs   []*churnJob
	asked  sync.WaitGroup  // Submits that have not returned
	giveUp context.Context // ends them
	cancel context.CancelFunc
	counts churnCounts
}

type churnCounts struct{ starts, goodbyes, crashes, pauses int }

// A change is when a host's state becomes another.
type change struct {
	at    time.Duration // after the beginning
	host  int
	state trace.State
}

// A phone is a host of the script, with its node.
type phone struct {
	*peer
	host   int
	runs   bool          // is not on its way out
	paused bool          // its owner uses it
	gone   chan struct{} // closed once the node has ended
}

// A churnJob is one that was handed in.
type churnJob struct {
	by    *phone
	tasks int

	// Of the Submit, once it has returned.
	id  task.JobID
	err error
}

// The workload: a job every few minutes, of tasks that a phone's spells, of
// a quarter of an hour in the median, often interrupt but seldom twice.
const (
	jobEvery  = 4 * time.Minute // on average
	mostTasks = 20
	leastWork = 5 * time.Second
	mostWork  = 90 * time.Second
	// contacts is how many nodes that run a node is told of when it starts.
	contacts = 3
)

// newChurn makes n nodes, none of them running. All that is left to chance follows
// from the seed.
func newChurn(t *testing.T, n int, seed uint64) *churn {
	c := &churn{swarm: newSwarm(t, n), rng: rand.New(rand.NewPCG(seed, seed)), book: &leadBook{warnings: map[string]int{}}}
	c.giveUp, c.cancel = context.WithCancel(t.Context())
	for i, p := range c.peers {
		c.hosts = append(c.hosts, &phone{peer: p, host: i, gone: make(chan struct{})})
		close(c.hosts[i].gone)
		id := task.PeerIDOf(p.host.Key.Public().(ed25519.PublicKey))
		c.book.ids = append(c.book.ids, id)
		p.cfg.Log = slog.New(leadLog{c.book, i})
	}
	return c
}

// replay does what the script says, and hands in jobs, until its end.
func (c *churn) replay(script []change, length time.Duration) {
	begun := time.Now()
	nextJob, nextHour := jobEvery, time.Hour
	for {
		at := min(nextJob, nextHour)
		if len(script) > 0 {
			at = min(at, script[0].at)
		}
		if at > length {
			<-time.After(time.Until(begun.Add(length)))
			return
		}
		<-time.After(time.Until(begun.Add(at)))
		switch {
		case len(script) > 0 && script[0].at == at:
			c.become(c.hosts[script[0].host], script[0].state)
			script = script[1:]
		case nextJob == at:
			nextJob += time.Duration((0.5 + c.rng.Float64()) * float64(jobEvery))
			c.handIn()
		default:
			nextHour += time.Hour
			r := c.book.report(time.Now())
			c.t.Logf("after %v: %d nodes run, %d jobs were handed in, %+v; without a leader: %s; %s: %s; %s: %s", at,
				len(c.running()), len(c.jobs), c.counts,
				times(r.leaderless), byCrash, times(r.changes[byCrash]), byGoodbye, times(r.changes[byGoodbye]))
		}
	}
}

// become has a host's node follow its host into another state.
func (c *churn) become(p *phone, s trace.State) {
	switch {
	case s == trace.Unavailable && p.runs:
		c.leave(p)
	case s != trace.Unavailable:
		if !p.runs {
			c.begin(p)
		}
		c.use(p, s != trace.Available)
	}
}

// begin starts a node that ran before, or never, and tells it of some that run.
func (c *churn) begin(p *phone) {
	<-p.gone
	var known []string
	others := c.running()
	c.rng.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	for _, o := range others[:min(len(others), contacts)] {
		known = append(known, o.peer.host.Addr)
	}
	if len(known) > 0 {
		p.cfg.Bootstrap = known
	}
	c.counts.starts++
	c.book.note(p.host, begins, "")
	p.start()
	p.runs, p.paused, p.gone = true, false, make(chan struct{})
	if err := p.Resume(context.Background()); err != nil {
		c.t.Errorf("a node that was started: %v", err)
	}
}

// leave ends a node, half of the times without a goodbye, and then as a machine
// without power goes: nobody closes its connections.
func (c *churn) leave(p *phone) {
	p.runs = false
	gone := p.gone
	if c.rng.IntN(2) == 0 {
		c.counts.crashes++
		p.peer.host.Mute()
		c.book.note(p.host, crashed, "")
		p.crash()
		close(gone)
		return
	}
	c.counts.goodbyes++
	c.book.note(p.host, goodbye, "")
	go func() {
		p.stop()
		c.book.note(p.host, stopped, "")
		close(gone)
	}()
}

// use has a node's owner use the machine, or leave it.
func (c *churn) use(p *phone, yes bool) {
	if p.paused == yes {
		return
	}
	p.paused = yes
	var err error
	if yes {
		c.counts.pauses++
		c.book.note(p.host, inUse, "")
		err = p.Pause(context.Background(), 0)
	} else {
		c.book.note(p.host, idle, "")
		err = p.Resume(context.Background())
	}
	if err != nil {
		c.t.Errorf("the owner's word: %v", err)
	}
}

// running lists the nodes that run and are not on their way out.
func (c *churn) running() []*phone {
	return slices.DeleteFunc(slices.Clone(c.hosts), func(p *phone) bool { return !p.runs })
}

// handIn hands a job to a random node that runs, and does not wait for the
// answer: it may come after hours, or never if the node goes.
func (c *churn) handIn() {
	at := c.running()
	if len(at) == 0 {
		return
	}
	j := &churnJob{by: at[c.rng.IntN(len(at))], tasks: 1 + c.rng.IntN(mostTasks)}
	work := leastWork + time.Duration(c.rng.Int64N(int64(mostWork-leastWork))).Round(time.Second)
	s := sleepJob(c.t, j.by.Node, j.tasks, work)
	c.jobs = append(c.jobs, j)
	n := j.by.Node
	c.asked.Go(func() { j.id, j.err = n.Submit(c.giveUp, s) })
}

// patience is how long what was handed in may take once all nodes are there.
const patience = time.Hour

// churned is what became of the jobs.
type churned struct {
	accepted   int // of which Submit said so
	unanswered int // whose node went first, and which went on when it was back
	dropped    int // whose node crashed before it had made them durable
	tasks      int // of the accepted and the unanswered
}

// finishAll has every node run, and checks that every job that was accepted ends
// where it was handed in, with each result once, and so every other that its node
// still has.
func (c *churn) finishAll() (sum churned) {
	for _, p := range c.hosts {
		if !p.runs {
			c.begin(p)
		}
		c.use(p, false)
	}
	late := time.AfterFunc(patience, c.cancel)
	c.asked.Wait() // of the nodes that run, which have somebody to accept them
	if !late.Stop() {
		c.t.Errorf("jobs were not accepted within %v", patience)
	}
	c.ended()
	for _, j := range c.jobs {
		switch {
		case j.err == nil:
			sum.accepted++
		case j.lost():
			sum.dropped++
			continue
		default:
			sum.unanswered++
		}
		sum.tasks += j.tasks
		j.by.finish(j.id, j.tasks)
	}
	return sum
}

// lost says whether a job was never accepted and its node does not have it.
func (j *churnJob) lost() bool {
	if j.err == nil {
		return false
	}
	_, err := j.by.Job(context.Background(), j.id, 0, 0)
	return errors.Is(err, ErrUnknownJob)
}

// ended waits until all jobs have ended.
func (c *churn) ended() {
	const look = 10 * time.Second
	left := slices.Clone(c.jobs)
	for end := time.Now().Add(patience); ; <-time.After(look) {
		left = slices.DeleteFunc(left, func(j *churnJob) bool {
			st, err := j.by.Job(context.Background(), j.id, 0, 0)
			return err == nil && st.Final || j.lost()
		})
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	for _, j := range left {
		st, err := j.by.Job(context.Background(), j.id, 0, j.tasks)
		c.t.Errorf("job %s of node %d has not ended: %+v, %v", j.id, j.by.host, st, err)
	}
	c.t.FailNow()
}

// reruns counts the starts of tasks beyond the first.
func (c *churn) reruns() int {
	again := 0
	for _, n := range starts(c.peers...) {
		again += n - 1
	}
	return again
}

// warned lists what the nodes warned of, the most frequent first.
func (c *churn) warned() []string {
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	var out []string
	for what, n := range c.book.warnings {
		out = append(out, fmt.Sprintf("%6d %s", n, what))
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(b, a) })
	return out
}
