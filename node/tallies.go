package node

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// methodTallies asks a member for the tallies that it has, its own and others': a talliesQuery, answered
// with a talliesAnswer.
const methodTallies = "tallies"

// A talliesQuery names the tallies that the asker has, by tallyID, so that none comes twice.
type talliesQuery struct {
	Overlay overlay.ID `json:"overlay"`
	Have    [][]byte   `json:"have,omitempty"` // at most maxTallies
}

// A talliesAnswer has tallies as their tellers signed them.
type talliesAnswer struct {
	Tallies [][]byte `json:"tallies,omitempty"` // at most talliesAtOnce, each of at most task.MaxTally bytes
}

const (
	// maxTallies bounds the tellers of an overlay whose tallies are kept and passed on.
	maxTallies = 32
	// talliesAtOnce bounds those of one answer: 128 KiB.
	talliesAtOnce = 8
	// askTalliesEvery is how often one member, drawn anew each time, is asked; a tenth more or less. What
	// one tells, a thousand have heard after about ten times this.
	askTalliesEvery = 10 * time.Minute
	// tallyEvery is how often this node makes a new one of its own. With as many tellers as are heard,
	// and each at its bound, a node is told 2 MiB a day.
	tallyEvery = 6 * time.Hour
	// maxTalliesQuery and maxTalliesAnswer bound the texts, in bytes: base64 takes a third more.
	maxTalliesQuery  = 4 << 10
	maxTalliesAnswer = talliesAtOnce*task.MaxTally*4/3 + 1<<10
	// tallyIDBytes of its SHA-256 name a tally among those that two members have.
	tallyIDBytes = 8
)

// tallies are what submitters tell each other of workers, and this node of what its own saw. All but what
// the submitter keeps is soft: after a restart it is asked for again. The loop owns it.
type tallies struct {
	*driver
	overlays *overlays
	proofs   *proofs
	askAt    time.Time // when the next member is asked
	kept     map[overlay.ID]map[task.PeerID]keptTally
	own      map[overlay.ID]keptTally
	trials   trials
}

// A keptTally is one as it came; no bytes for none.
type keptTally struct {
	bytes  []byte
	id     [tallyIDBytes]byte
	issued int64     // Unix seconds
	made   time.Time // of an own one, or when there was none to make
}

func newTallies(d *driver, o *overlays, p *proofs) *tallies {
	return &tallies{driver: d, overlays: o, proofs: p, kept: map[overlay.ID]map[task.PeerID]keptTally{},
		own: map[overlay.ID]keptTally{}, trials: trials{later: map[task.PeerID]int{}, came: map[bool]int{}}}
}

func tallyID(b []byte) [tallyIDBytes]byte {
	sum := sha256.Sum256(b)
	return [tallyIDBytes]byte(sum[:])
}

// askIfDue asks one member of one overlay, and has a result tried of what was told.
func (t *tallies) askIfDue(now time.Time) {
	if t.askAt.After(now) {
		return
	}
	first := t.askAt.IsZero()
	t.askAt = now.Add(askTalliesEvery - askTalliesEvery/10 + rand.N(askTalliesEvery/5))
	if first {
		return // nobody is known yet
	}
	t.tryIfDue(now)
	m, peer := t.proofs.random(now)
	if m == nil {
		return
	}
	q := talliesQuery{Overlay: m.id}
	for _, k := range t.of(m, now) {
		q.Have = append(q.Have, k.id[:])
	}
	body, err := json.Marshal(q)
	if err != nil {
		return
	}
	t.spawn(func() {
		ctx, cancel := context.WithTimeout(t.tasks, queryTimeout)
		defer cancel()
		b, err := t.net.Request(ctx, peer, methodTallies, body)
		if err != nil {
			t.log.Debug("a member tells no tallies", "peer", peer, "err", err)
			return
		}
		told, raw, err := readTallies(b)
		t.post(post{call: func() { t.hear(m, peer, told, raw, err) }})
	})
}

// readTallies reads an answer of a peer: the tallies that are well signed, as they came, up to the first
// that is not.
func readTallies(b []byte) (told []*task.Tally, raw [][]byte, err error) {
	var a talliesAnswer
	if len(b) > maxTalliesAnswer {
		return nil, nil, fmt.Errorf("reading tallies: %d bytes, the most is %d", len(b), maxTalliesAnswer)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, nil, fmt.Errorf("reading tallies: %w", err)
	}
	if len(a.Tallies) > talliesAtOnce {
		return nil, nil, fmt.Errorf("reading tallies: %d of them, the most is %d", len(a.Tallies), talliesAtOnce)
	}
	for _, b := range a.Tallies {
		tally, err := task.OpenTally(b)
		if err != nil {
			return told, raw, err
		}
		told, raw = append(told, tally), append(raw, b)
	}
	return told, raw, nil
}

// hear takes in what a member told. Whoever passes on what nobody signed is not asked for a week.
func (t *tallies) hear(m *membership, giver task.PeerID, told []*task.Tally, raw [][]byte, malformed error) {
	now := t.now()
	if malformed != nil {
		t.log.Warn("a member told what is no tally: it is not asked for a week", "peer", giver, "err", malformed)
		t.proofs.choice.Silence(giver, now)
	}
	if m.IsOut() {
		return
	}
	for i, tally := range told {
		if t.keeps(m, tally, raw[i], now) {
			m.step(m.Submitter(), message.Told{Tally: tally})
			t.proofs.hint(m, tally)
		}
	}
	t.tryIfDue(now)
}

// keeps keeps a tally of a member that is news, if there is room.
func (t *tallies) keeps(m *membership, tally *task.Tally, raw []byte, now time.Time) bool {
	if tally.Overlay != string(m.id) || tally.Teller == t.self || !tally.Counts(now) ||
		!t.proofs.member(m, tally.Teller) {
		return false
	}
	kept := t.kept[m.id]
	if kept == nil {
		kept = map[task.PeerID]keptTally{}
		t.kept[m.id] = kept
	}
	old, is := kept[tally.Teller]
	switch {
	case is && old.issued >= tally.Issued:
		return false
	case !is && len(kept) >= maxTallies && !t.makeRoom(m, kept):
		return false
	}
	kept[tally.Teller] = keptTally{bytes: raw, id: tallyID(raw), issued: tally.Issued}
	return true
}

// makeRoom forgets a tally at random of those whose tellers do not count here: so a crowd of tellers keeps
// nobody else's word from going round.
func (t *tallies) makeRoom(m *membership, kept map[task.PeerID]keptTally) bool {
	for teller := range kept {
		if !submitter.TalliesOf(m.Submitter()).Hears(teller) {
			delete(kept, teller)
			return true
		}
	}
	return false
}

// of lists the tallies of an overlay that others may hear, this node's own first. What is too old, or of who
// is no member any more, is forgotten, and so is what is of overlays that were left.
func (t *tallies) of(m *membership, now time.Time) (out []keptTally) {
	left := func(id overlay.ID) bool { return t.overlays.members[id] == nil }
	maps.DeleteFunc(t.kept, func(id overlay.ID, _ map[task.PeerID]keptTally) bool { return left(id) })
	maps.DeleteFunc(t.own, func(id overlay.ID, _ keptTally) bool { return left(id) })
	if own := t.ownOf(m, now); len(own.bytes) > 0 {
		out = append(out, own)
	}
	for teller, k := range t.kept[m.id] {
		if !(&task.Tally{Issued: k.issued}).Counts(now) || !t.proofs.member(m, teller) {
			delete(t.kept[m.id], teller)
			continue
		}
		out = append(out, k)
	}
	return out
}

// ownOf returns what this node tells of an overlay's workers itself.
func (t *tallies) ownOf(m *membership, now time.Time) keptTally {
	own, is := t.own[m.id]
	fresh := tallyEvery
	if len(own.bytes) == 0 {
		fresh = askTalliesEvery
	}
	if is && now.Sub(own.made) < fresh {
		return own
	}
	own = keptTally{made: now}
	if tally := submitter.TalliesOf(m.Submitter()).Make(string(m.id)); tally != nil {
		b, err := tally.Sign(t.key)
		if err != nil {
			t.log.Error("telling what was found right", "err", err)
		}
		own.bytes, own.id, own.issued = b, tallyID(b), tally.Issued
	}
	t.own[m.id] = own
	return own
}

// answerTallies tells a member what this node and others found right.
func (t *tallies) answerTallies(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var q talliesQuery
	if len(body) > maxTalliesQuery {
		return nil, fmt.Errorf("a question of %d bytes, the most is %d", len(body), maxTalliesQuery)
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	if len(q.Have) > maxTallies+1 {
		return nil, fmt.Errorf("%d tallies that the asker has, the most is %d", len(q.Have), maxTallies+1)
	}
	var a talliesAnswer
	err := errNoMember
	if e := t.doOf(ctx, from, func() {
		m := t.overlays.members[q.Overlay]
		if m == nil || !t.proofs.member(m, from) {
			return
		}
		err = nil
		all := t.of(m, t.now())
		for i := range all {
			id := string(all[i].id[:])
			has := slices.ContainsFunc(q.Have, func(b []byte) bool { return string(b) == id })
			if !has && len(a.Tallies) < talliesAtOnce {
				a.Tallies = append(a.Tallies, all[i].bytes)
			}
		}
	}); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

// errNotShown is answered to who asks for a result that is not shown.
var errNotShown = errors.New("node: no such result is shown here")
