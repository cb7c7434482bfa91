package predictor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// What a pool learnt, as bytes: a version, then for each class of horizons the sums of its
// regressions and what its parts lost. It has one length, and is a node's own: nobody
// sends it.
const (
	// learntVersion changes with all that gives the numbers a meaning: experts, opinions,
	// parts, terms, horizons, knots.
	learntVersion = 2
	// LearntSize is how many bytes there are.
	LearntSize = 1 + classes*lessonNumbers*8

	lessonNumbers = jointNumbers + 2*rightNumbers + 2 + parts
	// Of a fit of n terms: weights, pulls, one half of the curvature, and how much was seen.
	jointNumbers = 2*terms + terms*(terms+1)/2 + 1
	// The final correction has as many as the one before it.
	rightNumbers = 2*(slopes+1) + (slopes+1)*(slopes+2)/2 + 1
)

// Limits of what is believed of such bytes. A term is within mostShift, and fitMemory answers
// are remembered; lost counts answers.
const (
	mostSum  = 4 * fitMemory * mostShift * mostShift
	mostLost = 1e12
	// sumSlip is by how much sums may be off what sums of squares can be.
	sumSlip = 1e-6
)

var errLearnt = errors.New("it is not what a pool learnt")

// Learnt is what Learn has told the pool, for Recall: nil where that is nothing.
func (p *Pool) Learnt() []byte {
	if p.lessons == nil {
		return nil
	}
	b := append(make([]byte, 0, LearntSize), learntVersion)
	for c := range p.lessons {
		l := &p.lessons[c]
		b = l.final.curve.append(l.right.append(l.joint.append(b)))
		b = appendLosses(appendLosses(b, l.final.lost[:]), l.lost[:])
	}
	return b
}

// Recall has the pool know what another had learnt, in place of what it has. How hard it holds on to
// its first weights stays its own. The error says what is wrong with the bytes; the pool is
// as it was then. Readers made before are stale.
func (p *Pool) Recall(b []byte) error {
	switch {
	case len(b) == 0 || b[0] != learntVersion:
		return fmt.Errorf("of another version: %w", errLearnt)
	case len(b) != LearntSize:
		return fmt.Errorf("of %d bytes in place of %d: %w", len(b), LearntSize, errLearnt)
	}
	all := p.unlearnt()
	r := numbers{b: b[1:]}
	for c := range all {
		l := &all[c]
		if !l.joint.read(&r) || !l.right.read(&r) || !l.final.curve.read(&r) {
			return fmt.Errorf("sums of horizon %d: %w", c+1, errLearnt)
		}
		if !r.losses(l.final.lost[:]) || !r.losses(l.lost[:]) {
			return fmt.Errorf("what was lost at horizon %d: %w", c+1, errLearnt)
		}
		l.weigh()
		l.final.weigh()
	}
	p.lessons = all
	return nil
}

// unlearnt are lessons of which nothing is learnt.
func (p *Pool) unlearnt() *lessons {
	firm := p.firm
	if firm == 0 {
		firm = DefaultFirm
	}
	all := &lessons{}
	for c := range all {
		all[c] = newLesson(firm)
	}
	return all
}

func appendNumber(b []byte, x float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(x))
}

// numbers are read one after the other; there are enough.
type numbers struct{ b []byte }

func (r *numbers) next() float64 {
	x := math.Float64frombits(binary.BigEndian.Uint64(r.b))
	r.b = r.b[8:]
	return x
}

func appendLosses(b []byte, lost []float64) []byte {
	for _, x := range lost {
		b = appendNumber(b, x)
	}
	return b
}

// losses reads what each of some lost, less the least, and says whether it can be.
func (r *numbers) losses(lost []float64) bool {
	least, ok := mostLost, true
	for i := range lost {
		lost[i] = r.next()
		ok = ok && lost[i] >= 0 && lost[i] <= mostLost && !math.Signbit(lost[i])
		least = min(least, lost[i])
	}
	return ok && least == 0
}

// append writes what a fit learnt. Its bounds and first weights are whoever reads it's own.
func (f *fit) append(b []byte) []byte {
	b = appendNumber(b, f.seen)
	for i := range f.n {
		b = appendNumber(appendNumber(b, f.weight[i]), f.pull[i])
		for j := range i + 1 {
			b = appendNumber(b, f.curvature[i][j])
		}
	}
	return b
}

// read reads what append wrote, and says whether such sums can be.
func (f *fit) read(r *numbers) bool {
	f.seen = r.next()
	ok := f.seen >= 0 && f.seen <= f.memory
	for i := range f.n {
		f.weight[i], f.pull[i] = r.next(), r.next()
		ok = ok && f.weight[i] >= f.least[i] && f.weight[i] <= f.most[i] && math.Abs(f.pull[i]) <= mostSum
		for j := range i + 1 {
			f.curvature[i][j] = r.next()
			f.curvature[j][i] = f.curvature[i][j]
		}
		own := f.curvature[i][i]
		ok = ok && own >= 0 && own <= mostSum
		for j := range i {
			// By the inequality of Cauchy and Schwarz.
			both := math.Sqrt(own*f.curvature[j][j])*(1+sumSlip) + sumSlip
			ok = ok && math.Abs(f.curvature[i][j]) <= both
		}
	}
	return ok
}
