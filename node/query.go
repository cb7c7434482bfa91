package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"godwit/p2p"
	"godwit/scheduler"
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

type jobQuery struct {
	Job   task.JobID `json:"job"`
	From  uint64     `json:"from"`
	Limit int        `json:"limit"`
}

func (q jobQuery) ask(c *scheduler.Coordinator) (any, error) {
	if s, ok := c.Job(q.Job, scheduler.Page{From: q.From, Limit: min(q.Limit, MaxTaskList)}); ok {
		return s, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknownJob, q.Job)
}

// led asks this node's coordinator, if it leads.
func (n *Node) led(ctx context.Context, ask func(*scheduler.Coordinator) (any, error)) (v any, err error) {
	doErr := n.do(ctx, func() {
		if n.coordinator == nil {
			err = ErrNoLeader
			return
		}
		v, err = ask(n.coordinator)
	})
	if doErr != nil {
		return nil, doErr
	}
	return v, err
}

// askLeader asks the overlay's coordinator, wherever it is, into out.
func (n *Node) askLeader(ctx context.Context, method string, question any, out any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	var leader task.PeerID
	if err := n.do(ctx, func() { leader = n.leader.Leader }); err != nil {
		return err
	}
	if leader == "" {
		return ErrNoLeader
	}
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("encoding the question: %w", err)
	}
	var b []byte
	if leader == n.self {
		b, err = handler{n}.Request(ctx, n.self, method, body)
	} else if b, err = n.net.Request(ctx, leader, method, body); err != nil {
		err = leaderError(err)
	}
	if err != nil {
		return fmt.Errorf("asking the coordinator: %w", err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("reading the coordinator's answer: %w", err)
	}
	return nil
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

// Jobs lists the jobs that this node or the overlay's coordinator knows, the
// newest first, without their tasks.
func (n *Node) Jobs(ctx context.Context) ([]scheduler.JobStatus, error) {
	var own, all []scheduler.JobStatus
	if err := n.do(ctx, func() { own = n.submitter.Jobs() }); err != nil {
		return nil, err
	}
	if err := n.askLeader(ctx, methodJobs, nil, &all); err != nil {
		n.log.Debug("listing without the coordinator", "err", err)
	}
	return mergeJobs(all, own), nil
}

// Job returns a job's status with at most limit of its tasks from index from.
// A complete job of this node's is answered from here; otherwise the
// coordinator knows better.
func (n *Node) Job(ctx context.Context, id task.JobID, from uint64, limit int) (scheduler.JobStatus, error) {
	var own, led scheduler.JobStatus
	var mine bool
	if err := n.do(ctx, func() { own, mine = n.submitter.Job(id, scheduler.Page{From: from, Limit: min(limit, MaxTaskList)}) }); err != nil {
		return own, err
	}
	if mine && own.Final {
		return own, nil
	}
	err := n.askLeader(ctx, methodJob, jobQuery{id, from, limit}, &led)
	switch {
	case err == nil:
		return led, nil
	case mine:
		return own, nil
	}
	return led, err
}

// Why explains where a task is, or why it waits; without an index it groups
// the reasons of the job's tasks.
func (n *Node) Why(ctx context.Context, id task.JobID, index *uint64) (Why, error) {
	var w Why
	err := n.askLeader(ctx, methodWhy, whyQuery{id, index}, &w)
	return w, err
}
