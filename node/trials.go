package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/overlay"
	"godwit/p2p"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
	"godwit/task/referee"
)

// methodShown asks a teller for a result that its tally offers: a shownQuery, answered with a shownAnswer.
const methodShown = "shown"

type shownQuery struct {
	Overlay overlay.ID `json:"overlay"`
	Result  []byte     `json:"result"` // a task.TallyName
}

// A shownAnswer has the statement of a result that its teller found right.
type shownAnswer struct {
	Statement []byte `json:"statement"` // at most referee.MaxStatement bytes
}

// maxLater is how often a result may not be had, or not be run here, before that speaks against its
// teller: who shows only what suits him would be believed.
const maxLater = 3

// trials run results again that tellers found right, one at a time, drawn among those that a tally offers:
// it was signed before the draw. After one there is none for so many times longer as it took: see
// proofShare.
type trials struct {
	running bool
	rest    time.Time           // before which none begins
	later   map[task.PeerID]int // how often in a row a teller's could not be looked at
	came    map[bool]int        // how many were right, and how many were not
}

// errUnshown is of a result whose teller, who is there, does not show what it offered.
var errUnshown = errors.New("node: it is not shown, or not what was drawn")

// tryIfDue tries a result of one teller.
func (t *tallies) tryIfDue(now time.Time) {
	if t.trials.running || t.trials.rest.After(now) {
		return
	}
	type choice struct {
		in    *membership
		tally *task.Tally
	}
	var all []choice
	for _, m := range t.ordered() {
		if m.IsOut() {
			continue
		}
		for _, tally := range submitter.TalliesOf(m.Submitter()).ToTry() {
			all = append(all, choice{m, tally})
		}
	}
	if len(all) == 0 {
		return
	}
	c := all[rand.IntN(len(all))]
	name := c.tally.Shown[rand.IntN(len(c.tally.Shown))]
	t.trials.running = true
	t.spawn(func() {
		f, b, s, err := t.try(c.in, c.tally, name)
		t.post(post{call: func() { t.tried(c.in, c.tally, f, b, s, err, t.now().Sub(now)) }})
	})
}

// try asks a teller for a result, and runs its task.
func (t *tallies) try(m *membership, tally *task.Tally, name []byte) (f referee.Finding, b []byte, s referee.Statement,
	err error) {
	f.Verdict = referee.Open
	body, err := json.Marshal(shownQuery{m.id, name})
	if err != nil {
		return f, nil, s, err
	}
	ctx, cancel := context.WithTimeout(t.tasks, queryTimeout)
	defer cancel()
	if b, err = t.net.Request(ctx, tally.Teller, methodShown, body); err != nil {
		var answered *p2p.RemoteError
		if errors.As(err, &answered) && answered.Text == errNotShown.Error() {
			return f, nil, s, fmt.Errorf("%w: %w", errUnshown, err)
		}
		return f, nil, s, fmt.Errorf("%w: %w", errLater, err)
	}
	var a shownAnswer
	if err := json.Unmarshal(b, &a); err != nil {
		return f, nil, s, fmt.Errorf("%w: %w", errUnshown, err)
	}
	if s, err = referee.Decode(a.Statement); err != nil {
		return f, nil, s, fmt.Errorf("%w: %w", errUnshown, err)
	}
	spec, err := s.Open()
	switch {
	case err != nil:
		return f, nil, s, fmt.Errorf("%w: %w", errUnshown, err)
	case !offered(m.id, tally, name, &s, spec):
		return f, nil, s, errUnshown
	}
	f, err = t.proofs.run(m, tally.Teller, &s, spec)
	return f, a.Statement, s, err
}

// offered reports whether a statement is what a tally offers by a name: of a job of the teller's, by
// another worker, of which the tally speaks.
func offered(in overlay.ID, tally *task.Tally, name []byte, s *referee.Statement, spec *task.Job) bool {
	is := task.TallyName(&s.Result)
	return string(is[:]) == string(name) && spec.Overlay == string(in) && s.Record.Submitter() == tally.Teller &&
		s.Result.Worker != tally.Teller
}

// tried takes in what came of a result of a teller's. One that cannot be told of here is none that is right.
func (t *tallies) tried(m *membership, tally *task.Tally, f referee.Finding, b []byte, s referee.Statement, err error,
	took time.Duration) {
	tr := &t.trials
	tr.running, tr.rest = false, t.now().Add(proofShare*took)
	if errors.Is(err, errLater) && tr.later[tally.Teller]+1 < maxLater {
		if len(tr.later) >= maxUnheard {
			clear(tr.later)
		}
		tr.later[tally.Teller]++
		return
	}
	delete(tr.later, tally.Teller)
	right := err == nil && f.Verdict == referee.Nothing
	if tr.came == nil {
		tr.came = map[bool]int{}
	}
	tr.came[right]++
	t.log.Info("a result was run again that another found right", "teller", tally.Teller, "right", right, "why", f.Why,
		"err", err)
	if m.IsOut() {
		return
	}
	if err == nil && f.Verdict == referee.Proven {
		t.proofs.saw(m, b, &s, f.Why)
	}
	m.step(m.Submitter(), message.Redone{Teller: tally.Teller, Issued: tally.Issued, Right: right})
}

// answerShown shows a member a result that this node's tally offers.
func (t *tallies) answerShown(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q shownQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	var rec task.Record
	var id task.TaskID
	prefix, err := "", errNoMember
	if e := t.doOf(ctx, from, func() {
		m := t.overlays.members[q.Overlay]
		if m == nil || !t.proofs.member(m, from) {
			return
		}
		err = errNotShown
		var shows, is bool
		if len(q.Result) == len([32]byte{}) {
			id, shows = submitter.TalliesOf(m.Submitter()).Shows([32]byte(q.Result))
		}
		if rec, is = m.Submitter().Record(id.Job); is && shows {
			prefix, err = m.prefix, nil
		}
	}); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	held, err := t.store.heldResult(ctx, prefix, submitter.ResultKey(id.Job, id.Index), nil)
	if err != nil || len(held.Results) == 0 {
		return nil, errNotShown
	}
	s := referee.Statement{Record: rec, Result: held.Results[0]}
	b, err := s.Encode()
	if err != nil {
		return nil, errNotShown
	}
	return json.Marshal(shownAnswer{b})
}
