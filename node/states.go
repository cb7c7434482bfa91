package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"godwit/node/exec"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/scheduler/message"
	"godwit/task"
)

// A statesQuery asks a worker for the states that it kept of its run of a task, by the root of the
// trail that it signed; with Done they are released.
type statesQuery struct {
	Overlay overlay.ID `json:"overlay"`
	Job     task.JobID `json:"job"`
	Index   uint64     `json:"index"`
	Root    []byte     `json:"root"`
	Done    bool       `json:"done,omitempty"`
}

// errNoStates is answered to who asks for states that are not kept here for it, and errLostStates
// where they are not kept any more.
var (
	errNoStates   = errors.New("node: no such states are kept here for you")
	errLostStates = errors.New("node: such states are not kept here any more")
)

// answerStates answers a statesQuery: to members of the overlay, and of them to who submitted the
// job. They may fetch the states from then on. A node that has just begun answers once it has looked
// through what it kept.
func (d *driver) answerStates(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q statesQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	if err := d.exec.KeptReady(ctx); err != nil {
		return nil, fmt.Errorf("looking through what is kept: %w", err)
	}
	var kept *task.KeptStates
	err := errNoMember
	if e := d.doOf(ctx, from, func() {
		for _, m := range d.ordered() {
			if m.id != q.Overlay || !m.has(from) && !m.Visits(from) {
				continue
			}
			id := task.TaskID{Job: q.Job, Index: q.Index}
			if kept, err = d.exec.Kept(q.Overlay, from, id, q.Root, q.Done); err != nil {
				err = said(err)
				continue
			}
			for i := range kept.States {
				if c := kept.States[i].CID; c != "" && !q.Done {
					m.holds(c)
				}
			}
		}
	}); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return task.Encode(kept)
}

// said is the answer that stands for why no states are named.
func said(why error) error {
	if errors.Is(why, exec.ErrLost) {
		return errLostStates
	}
	return errNoStates
}

// States implements exec.Host.
func (d door) States(ctx context.Context, of exec.Client, signed *task.Result) (*task.KeptStates, error) {
	q := statesQuery{Overlay: of.Overlay(), Job: signed.Task.Job, Index: signed.Task.Index, Root: signed.Trail.Root}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("asking for states: %w", err)
	}
	if err := d.n.net.Introduce(ctx, signed.Worker); err != nil { // it may be of another cell
		return nil, fmt.Errorf("asking %s for states: %w", signed.Worker, err)
	}
	b, err := d.n.net.Request(ctx, signed.Worker, methodStates, body)
	if err != nil {
		var answered *p2p.RemoteError
		if errors.As(err, &answered) { // an older node knows no such question
			switch answered.Text {
			case errNoStates.Error():
				err = fmt.Errorf("%w: %s", exec.ErrRefused, answered.Text)
			case errLostStates.Error():
				err = fmt.Errorf("%w: %s", exec.ErrLost, answered.Text)
			}
		}
		return nil, fmt.Errorf("asking %s for states: %w", signed.Worker, err)
	}
	kept, err := task.DecodeKept(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", exec.ErrRefused, err)
	}
	return kept, nil
}

// release tells a worker that nobody will run intervals of a task again. If it does not hear that,
// it keeps its states for a day.
func (d *driver) release(ctx context.Context, m *membership, e message.Released) {
	q := statesQuery{Overlay: m.id, Job: e.Task.Job, Index: e.Task.Index, Root: e.Root, Done: true}
	d.spawn(func() {
		body, err := json.Marshal(q)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		if _, err := d.net.Request(ctx, e.Worker, methodStates, body); err != nil {
			d.log.Debug("states are not released", "worker", e.Worker, "err", err)
		}
	})
}

// keptPrefix is where the pairs of kept states live in the node's datastore.
const keptPrefix = "kept/"

// keptPairs are those pairs.
type keptPairs struct{ *driver }

// Save implements exec.Pairs.
func (p keptPairs) Save(ctx context.Context, key string, value []byte) error {
	if value != nil {
		if err := p.content.blocks.Sync(ctx); err != nil {
			return err
		}
	}
	return p.store.commit(ctx, []message.Persist{{Key: keptPrefix + key, Value: value}})
}

// Load implements exec.Pairs.
func (p keptPairs) Load(ctx context.Context) (map[string][]byte, error) {
	pairs, err := p.store.load(ctx, keptPrefix, "")
	return pairs, err
}
