package submitter

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"godwit/credibility"
	"godwit/scheduler/durable"
	"godwit/task"
)

// credit returns what is known of a worker, to be changed and then kept.
func (a *audits) credit(worker task.PeerID) *credibility.Credit {
	c := a.credits[worker]
	if c == nil {
		c = &credibility.Credit{}
		a.credits[worker] = c
	}
	return c
}

// known returns what is known of a worker; the zero Credit for nothing.
func (a *audits) known(worker task.PeerID) credibility.Credit {
	if c := a.credits[worker]; c != nil {
		return *c
	}
	return credibility.Credit{}
}

// An excuse is what a worker's wrong results may be owed to.
type excuse struct {
	module task.CID // the first that it was wrong with
	engine string
}

// creditState is the durable form of a credibility.Credit.
type creditState struct {
	Known  float64 `cbor:"1,keyasint,omitempty"`
	At     int64   `cbor:"2,keyasint,omitempty"` // Unix seconds
	Faults int     `cbor:"3,keyasint,omitempty"`
	Audits int     `cbor:"4,keyasint,omitempty"`
	// Module and Engine are those of an excuse.
	Module task.CID `cbor:"5,keyasint,omitempty"`
	Engine string   `cbor:"6,keyasint,omitempty"`
	// Praised is what others' runs add to Known.
	Praised float64 `cbor:"7,keyasint,omitempty"`
	First   int64   `cbor:"8,keyasint,omitempty"` // Unix seconds; 0 for what was kept before there was this
	// Probes is how many tasks it was given to be checked in its own time.
	Probes uint64 `cbor:"9,keyasint,omitempty"`
	// Refusals is as credibility.Credit has it.
	Refusals int `cbor:"10,keyasint,omitempty"`
	// Outvoted is when others last came to something else.
	Outvoted int64 `cbor:"11,keyasint,omitempty"` // Unix seconds
	// Losses and Lost are as well, in Unix seconds.
	Losses int   `cbor:"13,keyasint,omitempty"`
	Lost   int64 `cbor:"14,keyasint,omitempty"`
}

func (a *audits) keep(worker task.PeerID) {
	c := a.credits[worker]
	a.s.save(submitterCredits+string(worker), task.TaskID{}, &creditState{c.Known, c.At.Unix(), c.Faults, c.Audits,
		a.excuses[worker].module, a.excuses[worker].engine, c.Praised, unixOf(c.First), a.fresh.probes[worker],
		c.Refusals, unixOf(c.Outvoted), c.Losses, unixOf(c.Lost)})
}

// first is when the worker's first result was taken in.
func (c *creditState) first() time.Time {
	at := c.First
	if at == 0 && c.Known > 0 {
		at = c.At
	}
	return timeOf(at)
}

// timeOf is a time of Unix seconds, the zero time for none.
func timeOf(at int64) time.Time {
	if at <= 0 {
		return time.Time{}
	}
	return time.Unix(at, 0)
}

// unixOf is a time in Unix seconds, 0 for none.
func unixOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// restore takes in what is known of workers.
func (a *audits) restore(scan func(string) iter.Seq2[string, []byte], errs *durable.Errors) {
	for key, value := range scan(submitterCredits) {
		var c creditState
		err := task.Decode(value, &c)
		if err == nil && (!(c.Known >= 0) || !(c.Praised >= 0) || c.Faults < 0 || c.Audits < 0 || c.Refusals < 0 ||
			c.Losses < 0) {
			err = fmt.Errorf("a credit of %g with %d faults and %d audits", c.Known, c.Faults, c.Audits)
		}
		if errs.Note(key, err); err == nil {
			worker := task.PeerID(strings.TrimPrefix(key, submitterCredits))
			a.credits[worker] = &credibility.Credit{Known: c.Known, At: time.Unix(c.At, 0), Faults: c.Faults,
				Audits: c.Audits, Praised: c.Praised, First: c.first(), Refusals: c.Refusals,
				Outvoted: timeOf(c.Outvoted), Losses: c.Losses, Lost: timeOf(c.Lost)}
			a.noteFirst(c.first())
			if c.Probes > 0 {
				a.fresh.probes[worker] = c.Probes
			}
			if c.Module != "" {
				a.excuses[worker] = excuse{c.Module, c.Engine}
			}
		}
	}
}
