package task

import (
	"errors"
	"fmt"
)

// A PartProof says which part of the run of a signed result comes to something else: from one point
// that was signed to a later one. It is checked by running that part alone, from the state before.
//
// The points of a run, from 0: the task's beginning, the states of its chain (the earliest first),
// its boundaries, its end. Those of a leg are as if the run had ended with it. All boundaries are here and not the
// Merkle paths of two: they are 1.3 KB at most, and whoever has all sees that each lies where it has to
// (Trail.CheckBoundaries).
type PartProof struct {
	First uint32 `cbor:"1,keyasint"`
	Last  uint32 `cbor:"2,keyasint"` // above First
	// Kept are the boundaries, or empty where no point of the part is one. Of the one at First the CID
	// is the root of the state's blocks; a state of the chain is named there.
	Kept []KeptState `cbor:"3,keyasint,omitempty" most:"32"`
	// Leg is which leg the points are of, as Trail.Leg has them; 0 for the last, and for the states of its chain.
	Leg uint32 `cbor:"4,keyasint,omitempty"`
}

// A Segment is a part of a run for which one worker answers: it signed that from the one point it
// came to the other.
type Segment struct {
	From, To      uint64 // fuel
	Before, After []byte // hashes of the states there; empty at the task's beginning, and at its end
	State         CID    // root of the blocks of the state before; "" at the beginning, and where nobody names it
	By            PeerID
	// Engine and Pass are what By says that it ran: see Trail. Empty and 0 where it does not say.
	Engine string
	Pass   uint32
}

// Ends reports whether it ends with the task, in what the result says.
func (s *Segment) Ends() bool { return len(s.After) == 0 }

// A point is where a segment begins or ends, and who signed that he came there.
type point struct {
	fuel uint64
	hash []byte
	cid  CID
	by   PeerID
	// how it came there: see Segment
	engine string
	pass   uint32
}

// points returns the points of a leg of a run that has it, with the boundaries that are given.
func (r *Result) points(leg uint32, of []KeptState) []point {
	end := point{fuel: r.Trail.Fuel, by: r.Worker, engine: r.Trail.Engine, pass: r.Trail.Pass}
	if leg > 0 {
		l := &r.Trail.Began[leg-1]
		r = r.Leg(int(leg))
		end = point{l.Fuel, l.Voucher.Hash, l.CID, r.Worker, r.Trail.Engine, r.Trail.Pass}
	}
	out, t := []point{{}}, r.Trail
	for k := len(t.Began) - 1; k >= 0; k-- {
		l, v := &t.Began[k], &t.Began[k].Voucher
		out = append(out, point{l.Fuel, v.Hash, l.CID, v.Worker, v.Engine, v.Pass})
	}
	for i := range of {
		out = append(out, point{of[i].Fuel, of[i].Hash, of[i].CID, r.Worker, t.Engine, t.Pass})
	}
	return append(out, end)
}

// Segment returns the part of a run that a proof names, which may be hostile, of a result that was
// verified, of a job with that spacing. One worker has signed all of it: of what several ran, one
// after the other, none is to blame.
func (r *Result) Segment(p *PartProof, spacing uint64) (Segment, error) {
	if r.Trail == nil {
		return Segment{}, errors.New("a part of a run that has no trail")
	}
	if int64(p.Leg) > int64(len(r.Trail.Began)) || r.Trail.Leg(int(p.Leg)).Pass != r.Trail.Pass {
		return Segment{}, errors.New("a part of a leg that the run does not have")
	}
	kept := KeptStates{States: p.Kept}
	if err := kept.validate(); err != nil {
		return Segment{}, err
	}
	if len(p.Kept) > 0 {
		if err := r.Trail.Leg(int(p.Leg)).CheckBoundaries(kept.Boundaries(), spacing); err != nil {
			return Segment{}, err
		}
	}
	points := r.points(p.Leg, p.Kept)
	if p.First >= p.Last || int64(p.Last) >= int64(len(points)) {
		return Segment{}, fmt.Errorf("a part from point %d to %d, the last is %d", p.First, p.Last, len(points)-1)
	}
	if p.First == 0 && CutShort(r.Trail.Began) {
		return Segment{}, errors.New("a part that began with a state which is not named any more")
	}
	from, to := &points[p.First], &points[p.Last]
	for _, between := range points[p.First+1 : p.Last] {
		if between.by != to.by {
			return Segment{}, errors.New("a part that several workers ran")
		}
	}
	s := Segment{From: from.fuel, To: to.fuel, Before: from.hash, After: to.hash, State: from.cid, By: to.by,
		Engine: to.engine, Pass: to.pass}
	if s.To < s.From || s.To == s.From && !s.Ends() {
		return Segment{}, fmt.Errorf("a part from fuel %d to %d", s.From, s.To)
	}
	return s, nil
}

// ProveIntervals returns the proof of intervals of a leg that follow each other, from 0, whose boundaries
// its worker named. The first of all begins with the state that the leg went on from, if it did.
func (t *Trail) ProveIntervals(leg, first, last int, kept *KeptStates) *PartProof {
	n := len(t.Leg(leg).Began)
	return &PartProof{First: uint32(n + first), Last: uint32(n + last + 1), Kept: onlyState(kept, first-1),
		Leg: uint32(leg)}
}

// onlyState returns the boundaries with the CID of that one alone; of none where it is below 0.
func onlyState(kept *KeptStates, k int) []KeptState {
	out := make([]KeptState, len(kept.States))
	for i, s := range kept.States {
		if out[i] = s; i != k {
			out[i].CID = ""
		}
	}
	return out
}

// ProveLink returns the proof of what the worker ran that left a state of the chain: from the state
// that it went on from itself.
func (t *Trail) ProveLink(link int) *PartProof {
	at := uint32(len(t.Began) - link)
	return &PartProof{First: at - 1, Last: at}
}

// StateOf is the root of the blocks of the state that a proof of a result begins with; "" for none.
// p may be nil.
func (r *Result) StateOf(p *PartProof) CID {
	if p == nil || r.Trail == nil || int64(p.Leg) > int64(len(r.Trail.Began)) {
		return ""
	}
	if points := r.points(p.Leg, p.Kept); int64(p.First) < int64(len(points)) {
		return points[p.First].cid
	}
	return ""
}
