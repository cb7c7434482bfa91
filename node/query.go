package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"godwit/overlay"
	"godwit/p2p"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/task"
)

// Errors of queries; the API turns them into exit codes.
var (
	ErrNoLeader     = errors.New("node: no coordinator is known yet")
	ErrLeaderSilent = errors.New("node: the coordinator does not answer")
	ErrUnknownJob   = errors.New("node: no such job")
)

// queryTimeout bounds a question to the leader; an answer takes milliseconds,
// and a person is waiting.
const queryTimeout = 5 * time.Second

// MaxTaskList bounds the tasks that one status lists; larger sweeps are read
// in pages.
const MaxTaskList = 10_000

type jobsQuery struct {
	Overlay overlay.ID `json:"overlay"`
}

type jobQuery struct {
	Overlay overlay.ID `json:"overlay"`

	Job   task.JobID `json:"job"`
	From  uint64     `json:"from"`
	Limit int        `json:"limit"`
}

func (q jobQuery) ask(c *scheduler.Coordinator) (any, error) {
	if s, ok := c.Job(q.Job, message.Page{From: q.From, Limit: min(q.Limit, MaxTaskList)}); ok {
		return s, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknownJob, q.Job)
}

// Queries are what is asked of those who lead the overlays that this node serves, and of
// this node where it leads.
type queries struct {
	*driver
	overlays *overlays
	paces    askPaces
}

// led asks this node's coordinator of an overlay, if it leads there, for a peer.
func (q *queries) led(ctx context.Context, from task.PeerID, id overlay.ID,
	ask func(*scheduler.Coordinator) (any, error)) (v any, err error) {
	doErr := q.lookOf(ctx, from, func() {
		m := q.overlays.members[id]
		switch {
		case m == nil || m.Coordinator() == nil:
			err = ErrNoLeader
		case from != q.self && !m.has(from) && !m.Visits(from):
			err = errNoMember
		default:
			v, err = ask(m.Coordinator())
		}
	})
	if doErr != nil {
		return nil, doErr
	}
	return v, err
}

// A leader is who leads an overlay, as this node knows it.
type leader struct {
	overlay overlay.ID
	name    string
	peer    task.PeerID // "" while none is known
}

// leaders returns those of the overlays that this node serves.
func (q *queries) leaders(ctx context.Context) (out []leader, err error) {
	err = q.look(ctx, func() {
		for _, m := range q.ordered() {
			out = append(out, leader{m.id, m.Manifest().Name, m.Leader().Leader})
		}
	})
	return out, err
}

// ask asks an overlay's leader, wherever it is, into out.
func (q *queries) ask(ctx context.Context, l leader, method string, question any, out any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	if l.peer == "" {
		return ErrNoLeader
	}
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("encoding the question: %w", err)
	}
	var b []byte
	if l.peer == q.self {
		b, err = q.answer(ctx, q.self, method, body)
	} else if err = q.paces.wait(ctx, l.peer); err == nil {
		if b, err = q.net.Request(ctx, l.peer, method, body); err != nil {
			err = leaderError(err)
		}
	}
	if err != nil {
		return fmt.Errorf("asking the coordinator: %w", err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("reading the coordinator's answer: %w", err)
	}
	printTexts(out)
	return nil
}

// askLeaders asks one leader after another until one knows the job that the
// question is about, and returns it.
func (q *queries) askLeaders(ctx context.Context, method string, question func(overlay.ID) any,
	out any) (leader, error) {
	all, err := q.leaders(ctx)
	if err != nil {
		return leader{}, err
	}
	err = ErrNoLeader
	for _, l := range all {
		e := q.ask(ctx, l, method, question(l.overlay), out)
		if e == nil {
			return l, nil
		}
		if !errors.Is(err, ErrUnknownJob) { // which says most
			err = e
		}
	}
	return leader{}, err
}

// leaderError tells what another node answered, of which only the text travels,
// from its silence.
func leaderError(err error) error {
	var answered *p2p.RemoteError
	if !errors.As(err, &answered) {
		return fmt.Errorf("%w: %w", ErrLeaderSilent, err)
	}
	for _, known := range []error{ErrNoLeader, ErrUnknownJob} {
		if rest, ok := strings.CutPrefix(answered.Text, known.Error()); ok {
			return fmt.Errorf("%w%s", known, rest)
		}
	}
	return err
}

// Jobs lists the jobs that this node or the overlays' coordinators know, the
// newest first, without their tasks.
func (q *queries) Jobs(ctx context.Context) ([]message.JobStatus, error) {
	var own, all []message.JobStatus
	if err := q.look(ctx, func() {
		for _, m := range q.ordered() {
			own = append(own, named(m.Submitter().Jobs(), m.Manifest().Name)...)
		}
	}); err != nil {
		return nil, err
	}
	leaders, err := q.leaders(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range leaders {
		var led []message.JobStatus
		if err := q.ask(ctx, l, methodJobs, jobsQuery{l.overlay}, &led); err != nil {
			q.log.Debug("listing without the coordinator", "overlay", l.name, "err", err)
		}
		all = append(all, named(led, l.name)...)
	}
	return mergeJobs(all, own), nil
}

// named calls the overlay of jobs by its name: their records have its ID.
func named(jobs []message.JobStatus, overlay string) []message.JobStatus {
	for i := range jobs {
		jobs[i].Overlay = overlay
	}
	return jobs
}

// Job returns a job's status with at most limit of its tasks from index from.
// A complete job of this node's is answered from here; otherwise the
// coordinator knows better.
func (q *queries) Job(ctx context.Context, id task.JobID, from uint64, limit int) (message.JobStatus, error) {
	var own, led message.JobStatus
	var mine bool
	look := func() error {
		return q.look(ctx, func() {
			if m := q.overlays.submitted(id); m != nil {
				own, mine = m.Submitter().Job(id)
			}
		})
	}
	if err := look(); err != nil {
		return own, err
	}
	if mine && own.Final {
		return q.ownJob(ctx, id, from, limit)
	}
	l, err := q.askLeaders(ctx, methodJob, func(o overlay.ID) any { return jobQuery{o, id, from, limit} }, &led)
	// The coordinator may have answered after the last result was held here.
	if e := look(); e != nil {
		return own, e
	}
	switch {
	case mine && own.Final:
		return q.ownJob(ctx, id, from, limit)
	case err == nil:
		led.Overlay = l.name
		if mine {
			led = ofOwn(led, own)
		} else {
			led = bySubmitter(led, q.submitted(ctx, l, &led))
		}
		led = q.withLent(ctx, l, led, jobQuery{l.overlay, id, from, limit})
		if mine {
			return q.withRemoved(ctx, led, from, limit)
		}
		return led, nil
	case mine:
		return q.ownJob(ctx, id, from, limit)
	}
	return led, err
}

// submitted returns the overlay in which this node submitted the job, or nil.
func (o *overlays) submitted(id task.JobID) *membership {
	for _, m := range o.members {
		if _, ok := m.Submitter().Record(id); ok {
			return m
		}
	}
	return nil
}
