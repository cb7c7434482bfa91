package hostile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/pause"
	"godwit/member"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// leaders are lies of those who lead.
func leaders() []attack {
	return []attack{{id: "S12", play: playLiar, plain: true,
		before: "whoever led had all copies of the ledger erased, told submitters of failures that nobody had signed " +
			"and of " +
			"results of keys that it made, and that jobs were done"}}
}

// A liar leads the open pool from its beginning, so that nobody doubts it.
type liar struct {
	*stranger
	node  Node
	epoch atomic.Uint64

	mu       sync.Mutex
	job      task.JobID // that the node handed in
	session  uint64     // of the node's copy
	follows  bool       // the node is to keep copies
	answered int        // Knowns
	copied   uint64     // the last Copy that the node has
	given    []task.JobID
}

// rise begins to lead, and starts a node that knows nobody else.
func (f *field) rise(ctx context.Context) (*liar, error) {
	s, err := f.prepare(passerby)
	if err != nil {
		return nil, err
	}
	l := &liar{stranger: s, follows: true}
	s.onMessage = func(from task.PeerID, of overlay.ID, m *message.Message) {
		if of == f.open {
			l.hear(context.WithoutCancel(ctx), from, m)
		}
	}
	f.mu.Lock()
	f.strangers = append(f.strangers, s)
	f.mu.Unlock()
	if err := s.beginWith(ctx, nil); err != nil {
		return nil, err
	}
	l.epoch.Store(overlay.NextEpoch(0, s.host.ID()))
	if err := s.advertiseIn(f.open, l.epoch.Load()); err != nil {
		return nil, err
	}
	if l.node, err = f.Start(ctx, Spec{Rules: rulesOf(f.disk), Peers: s.host.Addrs()[:1], Flags: []string{"--cores",
		"1"}}); err != nil {
		return nil, err
	}
	go l.reign(ctx)
	return l, until(ctx, gatherLimit, func() error {
		list, err := f.pools(ctx, l.node)
		if err == nil && list[openName].Leader != s.host.ID() {
			err = errors.New("the node does not follow the liar")
		}
		return err
	})
}

// reign renews the lease until the stranger ends.
func (l *liar) reign(ctx context.Context) {
	for n := 0; pause.For(ctx, overlay.RenewEvery) == nil; n++ {
		select {
		case <-l.ended:
			return
		default:
		}
		if n%5 == 0 {
			_ = l.advertiseIn(l.f.open, l.epoch.Load(), l.node.Peer())
		}
		_ = l.sayLease(ctx, l.node.Peer(), member.Renewal, l.epoch.Load(), "", l.host.ID(), l.node.Peer())
	}
}

// hear answers what the node says as a leader would.
func (l *liar) hear(ctx context.Context, from task.PeerID, m *message.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case m.Submit != nil:
		l.job = m.Submit.Record.ID()
		_ = l.say(ctx, from, message.Message{Accepted: &message.Accepted{Job: l.job}})
	case m.Known != nil:
		l.session = m.Known.Session
		l.answered++
		_ = l.say(ctx, from, message.Message{Wanted: &message.Wanted{Epoch: l.epoch.Load(), Session: l.session,
			Seq:  m.Known.Seq,
			Done: m.Known.Last, Follow: l.follows}})
	case m.Copied != nil && m.Copied.Session == l.session:
		l.copied = m.Copied.Seq
	case m.Report != nil:
		ack := &message.Ack{Epoch: l.epoch.Load()}
		_ = l.say(ctx, from, message.Message{Ack: ack})
	}
}

// tell says something to the node.
func (l *liar) tell(ctx context.Context, m ...message.Message) error {
	return l.say(ctx, l.node.Peer(), m...)
}

func playLiar(ctx context.Context, f *field, row *Row) error {
	l, err := f.rise(ctx)
	if l != nil && l.node != nil {
		defer l.node.Kill()
	}
	if err != nil {
		return err
	}
	if err := l.lieToSubmitter(ctx, row); err != nil {
		return err
	}
	if l.node.Ended() {
		row.broke("a node that was lied to has ended: %s", lastWords(l.node.Said()))
		return nil
	}
	if err := l.eraseCopies(ctx, row); err != nil {
		return err
	}
	if l.node.Ended() {
		row.broke("a node that was lied to has ended: %s", lastWords(l.node.Said()))
	}
	return nil
}

// lieToSubmitter has the node hand a job in, and says what it came to.
func (l *liar) lieToSubmitter(ctx context.Context, row *Row) error {
	const tasks = 4
	file, _, err := l.f.jobFile(tasks, "replicas: 2\n")
	if err != nil {
		return err
	}
	said, err := l.node.Verb(ctx, l.f.dir, "run", file, "--detach")
	if err != nil {
		return fmt.Errorf("handing a job in to a liar: %w", err)
	}
	p := &prey{f: l.f, at: l.node, id: task.JobID(said), tasks: tasks}
	for n := range l.f.Times {
		if l.node.Ended() {
			return nil
		}
		m, err := l.lie(p, n, tasks)
		if err != nil {
			return err
		}
		if err := l.tell(ctx, m); err != nil {
			return err
		}
	}
	own, err := l.jobOf(l.key, 1, nil)
	if err != nil {
		return err
	}
	sent := 0
	for n, at := range badTimes {
		frames, err := poisoned(own, p.id, l.epoch.Load(), 3+n%2, at)
		if err != nil {
			return err
		}
		for _, frame := range frames {
			if err := l.frame(ctx, l.node.Peer(), l.f.open, frame); err != nil {
				return err
			}
			sent++
		}
	}
	row.tried(l.f.Times+sent, "lies to a submitter: failures without signatures, results of made-up workers with "+
		"and without "+
		"receipts, ends of jobs, times that are none")
	if err := rest(ctx); err != nil || l.node.Ended() {
		return err
	}
	v, err := p.view(ctx)
	if err != nil {
		return err
	}
	row.now("the job of %d tasks: %s, final %t, %d held, %d failed", tasks, v.State, v.Final, v.Held, v.Tasks.Failed)
	if v.Final || v.Held > 0 {
		row.broke("the submitter believed it: %s, final %t, %d of %d held", v.State, v.Final, v.Held, tasks)
	}
	return nil
}

// lie is one of what a leader may say of a job.
func (l *liar) lie(p *prey, n, tasks int) (message.Message, error) {
	index := n / 4 % tasks
	progress := &message.Progress{Job: p.id, Summary: message.JobSummary{State: message.JobRunning, Total: uint64(tasks),
		Running: uint64(tasks)}}
	sum := message.TaskSummary{Index: uint64(index)}
	switch n % 4 {
	case 0:
		sum.Failed, sum.Reason = true, "no"
	case 1:
		sum.Failed = true
		r, err := signedBy(l.someKey(n), failing(p.id, index, n))
		if err != nil {
			return message.Message{}, err
		}
		sum.Results = []task.Result{r}
	case 2:
		for range 2 {
			r, err := signedBy(newKey(), saying(p.id, index, "forged"))
			if err != nil {
				return message.Message{}, err
			}
			sum.Results = append(sum.Results, r)
		}
	case 3:
		states := []string{message.JobDone, message.JobFailed, message.JobPartly, message.JobCancelled, message.JobExpired}
		progress.Summary = message.JobSummary{State: states[n/4%len(states)], Total: uint64(tasks), Done: uint64(tasks)}
		return message.Message{Progress: progress}, nil
	}
	progress.Tasks = []message.TaskSummary{sum}
	return message.Message{Progress: progress}, nil
}

// eraseCopies gives the node a copy of a ledger, and then has it hand all over and forget.
func (l *liar) eraseCopies(ctx context.Context, row *Row) error {
	before, err := l.giveCopy(ctx)
	if err != nil {
		row.now("no copy was made: %v", err)
		return ctx.Err()
	}
	l.mu.Lock()
	gone := &message.Copy{Epoch: l.epoch.Load(), Session: l.session, Seq: l.copied + 1, Gone: l.given}
	l.mu.Unlock()
	if err := l.tell(ctx, message.Message{Copy: gone}); err != nil {
		return err
	}
	row.Times++
	if err := pause.For(ctx, 2*time.Second); err != nil {
		return err
	}
	l.mu.Lock()
	l.follows = false
	told := l.answered
	l.mu.Unlock()
	for n := range max(2, l.f.Times/20) {
		if n%2 == 0 { // in a term of its own, which begins a session, or by asking for one
			l.epoch.Store(overlay.NextEpoch(l.epoch.Load(), l.host.ID()))
			err = l.advertiseIn(l.f.open, l.epoch.Load(), l.node.Peer())
		} else {
			err = l.tell(ctx, message.Message{Wanted: &message.Wanted{Epoch: l.epoch.Load()}})
		}
		if err != nil {
			return err
		}
		row.Times++
		if err := pause.For(ctx, 2*time.Second); err != nil {
			return err
		}
	}
	l.mu.Lock()
	told = l.answered - told
	l.mu.Unlock()
	row.tried(0, "orders to a follower to forget jobs as gone, and to hand its copy over and forget it")
	after := l.holds(ctx)
	row.now("it said %d times what it knows, and was told to forget it; it held %d jobs and then %d", told, before, after)
	if after < before {
		row.broke("a follower forgot %d jobs that nobody else has confirmed", before-after)
	}
	return nil
}

// holds returns how many jobs the node's copy has.
func (l *liar) holds(ctx context.Context) int {
	list, _ := l.f.pools(ctx, l.node) // a node that is gone has none
	return list[openName].Jobs
}

// giveCopy has the node keep a copy of some jobs, and returns how many it holds.
func (l *liar) giveCopy(ctx context.Context) (int, error) {
	const jobs = 5
	if err := l.tell(ctx, message.Message{Wanted: &message.Wanted{Epoch: l.epoch.Load()}}); err != nil {
		return 0, err
	}
	if err := until(ctx, gatherLimit, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.answered == 0 {
			return errors.New("the node does not say what it knows")
		}
		return nil
	}); err != nil {
		return 0, err
	}
	var pairs []message.Pair
	for range jobs {
		rec, err := l.jobOf(newKey(), 3, nil)
		if err != nil {
			return 0, err
		}
		pairs = append(pairs, recordPair(rec))
		l.given = append(l.given, rec.ID())
	}
	err := until(ctx, gatherLimit, func() error {
		l.mu.Lock()
		c := &message.Copy{Epoch: l.epoch.Load(), Session: l.session, Seq: l.copied + 1, Pairs: pairs}
		l.mu.Unlock()
		if err := l.tell(ctx, message.Message{Copy: c}); err != nil {
			return err
		}
		if n := l.holds(ctx); n < jobs {
			return fmt.Errorf("the node holds %d jobs of %d", n, jobs)
		}
		return nil
	})
	return l.holds(ctx), err
}
