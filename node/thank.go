package node

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"godwit/node/thanks"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// methodThanks brings a worker thanks of the submitter that asks: encoded task.Thanks, answered with nothing once
// they are durable.
const methodThanks = "thanks"

const (
	// thankEvery is how often it is looked whom this node owes thanks: so many seconds' results of a worker
	// share a signature, and dispatch has none more.
	thankEvery = 20 * time.Second
	// thanksAtOnce bounds those that are said then, one after the other.
	thanksAtOnce = 64
	// Where they are kept: what is owed, by overlay, worker and day; what was got, by overlay, submitter
	// and day; and for whom something ran here, by submitter.
	owedPrefix   = "thanks/owed/"
	gotPrefix    = "thanks/got/"
	patronPrefix = "thanks/for/"
)

// thankful is what this node thanks others for, and others it. The loop owns it.
type thankful struct {
	*driver
	overlays *overlays
	owed     *thanks.Owed
	got      *thanks.Got
	at       time.Time // when to look next
	saying   bool
}

// A keptOwed is how what is owed is kept.
type keptOwed struct {
	Thanks []byte `cbor:"1,keyasint"`           // as they are signed
	Heard  bool   `cbor:"2,keyasint,omitempty"` // by the worker
}

func newThankful(d *driver, o *overlays) *thankful {
	return &thankful{driver: d, overlays: o, owed: thanks.NewOwed(d.self), got: thanks.NewGot(d.self, d.cfg.Cores)}
}

// load takes in what is kept. What cannot be read is left out: it is no more than a thank you.
func (t *thankful) load(ctx context.Context) error {
	now := t.clock.wall()
	var gone []message.Persist
	each := func(prefix string, take func(name string, value []byte) error) error {
		var failed error
		for key, value := range t.store.scan(ctx, "", prefix, &failed) {
			key = strings.TrimPrefix(key, "/")
			if err := take(strings.TrimPrefix(key, prefix), value); err != nil {
				gone = append(gone, message.Persist{Key: key})
			}
		}
		return failed
	}
	err := each(patronPrefix, func(name string, value []byte) error {
		work, n := binary.Uvarint(value)
		if n <= 0 {
			return errors.New("no work is kept")
		}
		if least, _ := t.got.Ran(task.PeerID(name), time.Duration(min(work, math.MaxInt64))); least != "" {
			gone = append(gone, message.Persist{Key: patronPrefix + string(least)})
		}
		return nil
	})
	if err == nil {
		err = each(gotPrefix, func(_ string, value []byte) error {
			said, err := task.OpenThanks(value)
			if err == nil {
				_, err = t.got.Take(thanks.Note{Thanks: said, Bytes: value}, now)
			}
			return err
		})
	}
	if err == nil {
		err = each(owedPrefix, func(_ string, value []byte) error {
			var k keptOwed
			if err := task.Decode(value, &k); err != nil {
				return err
			}
			said, err := task.OpenThanks(k.Thanks)
			if err == nil && !t.owed.Restore(said, k.Heard, now) {
				err = thanks.ErrOld
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	return t.store.commit(ctx, gone)
}

func owedKey(t *task.Thanks) string {
	return fmt.Sprintf("%s%s/%s/%d", owedPrefix, t.Overlay, t.Worker, t.Day)
}

func gotKey(p thanks.Page) string {
	return fmt.Sprintf("%s%s/%s/%d", gotPrefix, p.Overlay, p.Peer, p.Day)
}

// sayIfDue takes up what workers gave, and thanks those who are to hear it.
func (t *thankful) sayIfDue(now time.Time) {
	if t.at.After(now) {
		return
	}
	t.at = now.Add(thankEvery)
	t.gather()
	if t.saying {
		return
	}
	due := t.owed.Due(t.clock.wall(), thanksAtOnce)
	if len(due) == 0 {
		return
	}
	t.saying = true
	t.spawn(func() {
		heard := t.say(due)
		t.post(post{call: func() {
			t.saying = false
			for i, said := range due {
				t.owed.Told(said, heard[i], t.clock.wall())
			}
		}})
	})
}

// gather takes what workers gave out of the submitters.
func (t *thankful) gather() {
	now := t.clock.wall()
	for _, m := range t.ordered() {
		for _, gift := range submitter.TakeGifts(m.Submitter()) {
			t.owed.Add(string(m.id), gift, now)
		}
	}
}

// say signs thanks, keeps them and tells them to the workers, from any goroutine. It says which of them were heard.
func (t *thankful) say(due []*task.Thanks) (heard []bool) {
	heard = make([]bool, len(due))
	signed := t.sign(due, heard)
	keep := context.WithoutCancel(t.tasks) // also while the node stops
	if err := t.store.commit(keep, keptAs(due, signed, heard)); err != nil {
		t.log.Warn("thanks to workers are not kept", "err", err)
	}
	for i, said := range due {
		if signed[i] == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(t.tasks, queryTimeout)
		_, err := t.net.Request(ctx, said.Worker, methodThanks, signed[i])
		cancel()
		if heard[i] = err == nil; err != nil {
			t.log.Debug("a worker does not hear thanks", "peer", said.Worker, "err", err)
		}
	}
	if err := t.store.commit(keep, keptAs(due, signed, heard)); err != nil {
		t.log.Warn("thanks to workers are not kept", "err", err)
	}
	return heard
}

// sign signs thanks. What cannot be signed counts as heard: it would not be another time either.
func (t *thankful) sign(due []*task.Thanks, heard []bool) [][]byte {
	signed := make([][]byte, len(due))
	for i, said := range due {
		b, err := said.Sign(t.key)
		if err != nil {
			t.log.Error("signing thanks", "worker", said.Worker, "err", err)
			heard[i] = true
			continue
		}
		signed[i] = b
	}
	return signed
}

func keptAs(due []*task.Thanks, signed [][]byte, heard []bool) (changes []message.Persist) {
	for i, b := range signed {
		if b == nil {
			continue
		}
		if value, err := task.Encode(keptOwed{b, heard[i]}); err == nil {
			changes = append(changes, message.Persist{Key: owedKey(due[i]), Value: value})
		}
	}
	return changes
}

// lastWords returns what is to be kept of a node that stops.
func (t *thankful) lastWords() []message.Persist {
	t.gather()
	due := t.owed.Unheard(t.clock.wall())
	heard := make([]bool, len(due))
	return append(keptAs(due, t.sign(due, heard), heard), t.patrons()...)
}

// patrons adds the work that was measured here to that of its submitters, and returns what is to be kept of that.
func (t *thankful) patrons() (changes []message.Persist) {
	of := t.content.ran.take()
	for _, submitter := range of.All() {
		gone, changed := t.got.Ran(submitter, of.Work(submitter))
		if gone != "" {
			changes = append(changes, message.Persist{Key: patronPrefix + string(gone)})
		}
		if changed {
			work := binary.AppendUvarint(nil, uint64(t.got.Patrons().Work(submitter)))
			changes = append(changes, message.Persist{Key: patronPrefix + string(submitter), Value: work})
		}
	}
	return changes
}

// answerThanks takes in thanks of a submitter, which brings its own alone.
func (t *thankful) answerThanks(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	said, err := task.OpenThanks(body)
	if err != nil {
		return nil, err
	}
	if said.Submitter != from {
		return nil, fmt.Errorf("thanks of %s, brought by another", said.Submitter)
	}
	var changes []message.Persist
	if e := t.doOf(ctx, from, func() {
		if t.overlays.members[overlay.ID(said.Overlay)] == nil {
			err = errNoMember
			return
		}
		changes = t.patrons()
		var gone []thanks.Page
		if gone, err = t.got.Take(thanks.Note{Thanks: said, Bytes: body}, t.clock.wall()); err == nil {
			changes = append(changes, message.Persist{Value: body,
				Key: gotKey(thanks.Page{Overlay: said.Overlay, Peer: from, Day: said.Day})})
		}
		for _, g := range gone {
			changes = append(changes, message.Persist{Key: gotKey(g)})
		}
	}); e != nil {
		return nil, e
	}
	if e := t.store.commit(ctx, changes); e != nil {
		return nil, e
	}
	return nil, err
}

// A patronage collects the submitters whose jobs were prepared here, and the CPU time that their tasks took, until the
// loop takes it. The zero value is empty. It is safe for concurrent use.
type patronage struct {
	mu sync.Mutex
	of *thanks.Patrons // nil if nothing ran since
}

// mostPatronage bounds the submitters in a patronage. With more, those with the least work are left out.
const mostPatronage = 1024

// note adds measured work for a submitter, 0 for a job that is prepared.
func (p *patronage) note(of task.PeerID, work time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = thanks.NewPatrons(mostPatronage)
	}
	if work > 0 || !p.of.Has(of) {
		p.of.Add(of, work)
	}
}

// take returns what was collected, and begins again.
func (p *patronage) take() *thanks.Patrons {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.of
	if p.of = nil; of == nil {
		of = thanks.NewPatrons(mostPatronage)
	}
	return of
}
