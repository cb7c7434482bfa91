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

// maxLaterTellers bounds the tellers of whom that is counted.
const maxLaterTellers = 1024

// trials run results again that tellers found right, one at a time, drawn among those that a tally offers:
// it was signed before the draw. After one there is none for so many times longer as it took: see
// proofShare.
type trials struct {
	running bool
	rest    time.Time           // before which none begins
	later   map[task.PeerID]int // how often in a row a teller's could not be looked at
	came    map[bool]int        // how many were right, and how many were not
}

// A trial is one of them.
type trial struct {
	in    *membership
	tally *task.Tally
	name  []byte // of the result that was drawn
	begun time.Time

	encoded   []byte // the statement
	statement referee.Statement
	found     referee.Finding
}

// errUnshown is of a result whose teller, who is there, does not show what it offered.
var errUnshown = errors.New("node: it is not shown, or not what was drawn")

// tryIfDue tries a result of one teller.
func (t *tallies) tryIfDue(now time.Time) {
	if t.trials.running || t.trials.rest.After(now) {
		return
	}
	var all []*trial
	for _, m := range t.ordered() {
		if m.IsOut() {
			continue
		}
		for _, tally := range submitter.TalliesOf(m.Submitter()).ToTry() {
			all = append(all, &trial{in: m, tally: tally, begun: now})
		}
	}
	if len(all) == 0 {
		return
	}
	one := all[rand.IntN(len(all))]
	one.name = one.tally.Shown[rand.IntN(len(one.tally.Shown))]
	t.trials.running = true
	t.spawn(func() {
		err := t.ask(one)
		if err == nil {
			err = t.try(one)
		}
		t.post(post{call: func() { t.tried(one, err) }})
	})
}

// ask asks a teller for the result.
func (t *tallies) ask(one *trial) error {
	body, err := json.Marshal(shownQuery{one.in.id, one.name})
	if err != nil {
		return fmt.Errorf("asking for a result: %w", err)
	}
	ctx, cancel := context.WithTimeout(t.tasks, queryTimeout)
	defer cancel()
	b, err := t.net.Request(ctx, one.tally.Teller, methodShown, body)
	if err != nil {
		var answered *p2p.RemoteError
		if errors.As(err, &answered) && answered.Text == errNotShown.Error() {
			return fmt.Errorf("%w: %w", errUnshown, err)
		}
		return fmt.Errorf("%w: %w", errLater, err)
	}
	var a shownAnswer
	if len(b) > 2*referee.MaxStatement { // in base64
		return errUnshown
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return fmt.Errorf("%w: %w", errUnshown, err)
	}
	one.encoded = a.Statement
	if one.statement, err = referee.Decode(a.Statement); err != nil {
		return fmt.Errorf("%w: %w", errUnshown, err)
	}
	return nil
}

// try runs the task of what was shown, if it is what was drawn.
func (t *tallies) try(one *trial) error {
	spec, err := one.statement.Open()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errUnshown, err)
	case !one.isOffered(spec):
		return errUnshown
	}
	one.found, err = t.proofs.run(one.in, one.tally.Teller, &one.statement, spec)
	return err
}

// isOffered reports whether a statement is what the tally offers by the name: of a job of the teller's, by
// another worker, and of the whole task: a part that is right says nothing of the rest.
func (one *trial) isOffered(spec *task.Job) bool {
	s := &one.statement
	is := task.TallyName(&s.Result)
	return s.Part == nil && string(is[:]) == string(one.name) && spec.Overlay == string(one.in.id) &&
		s.Record.Submitter() == one.tally.Teller && s.Result.Worker != one.tally.Teller
}

// tried takes in what came of a result of a teller's. One that cannot be told of here is none that is right.
func (t *tallies) tried(one *trial, err error) {
	tr, teller, now := &t.trials, one.tally.Teller, t.now()
	tr.running, tr.rest = false, now.Add(proofShare*now.Sub(one.begun))
	if errors.Is(err, errLater) && tr.later[teller]+1 < maxLater {
		if len(tr.later) >= maxLaterTellers {
			clear(tr.later)
		}
		tr.later[teller]++
		return
	}
	delete(tr.later, teller)
	right := err == nil && one.found.Verdict == referee.Nothing
	tr.came[right]++
	t.log.Info("a result was run again that another found right", "teller", teller, "right", right,
		"why", one.found.Why, "err", err)
	if one.in.IsOut() {
		return
	}
	wrong := err == nil && one.found.Verdict == referee.Proven
	if wrong {
		t.proofs.saw(one.in, one.encoded, &one.statement, &one.found)
	}
	one.in.step(one.in.Submitter(),
		message.Redone{Teller: teller, Issued: one.tally.Issued, Right: right, Wrong: wrong})
}

// answerShown shows a member a result that this node's tally offers.
func (t *tallies) answerShown(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q shownQuery
	if len(body) > maxTalliesQuery {
		return nil, fmt.Errorf("a question of %d bytes, the most is %d", len(body), maxTalliesQuery)
	}
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
