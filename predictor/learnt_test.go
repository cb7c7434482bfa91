package predictor

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// taught is a pool that learnt some answers.
func taught(t *rapid.T, pool *Pool) {
	var answers []Answer
	for range rapid.IntRange(1, 100).Draw(t, "answers") {
		answers = append(answers, Answer{class: uint8(rapid.IntRange(0, classes-1).Draw(t, "class")),
			stayed: rapid.Bool().Draw(t, "stayed"), said: drawSaid(t)})
	}
	pool.Learn(answers)
}

// TestRecallGoesOn: a pool that recalls what another learnt says the same, and goes on
// learning as that one does.
func TestRecallGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := &Pool{}, &Pool{}
		taught(t, first)
		b := first.Learnt()
		if len(b) != LearntSize {
			t.Fatalf("%d bytes, want %d", len(b), LearntSize)
		}
		if err := second.Recall(b); err != nil {
			t.Fatal(err)
		}
		if again := second.Learnt(); !bytes.Equal(again, b) {
			t.Fatal("what was recalled is told as something else")
		}
		a := []Answer{{class: 1, stayed: true, said: drawSaid(t)}, {class: 4, said: drawSaid(t)}}
		first.Learn(a)
		second.Learn(a)
		for c := range first.lessons {
			s := drawSaid(t)
			if p, q := first.lessons[c].answer(&s), second.lessons[c].answer(&s); math.Abs(p-q) > 1e-9 {
				t.Fatalf("horizon %d: %v and %v", c, p, q)
			}
		}
	})
}

// TestRecallRefuses: bytes of another version or length, and sums that cannot be. The pool
// keeps what it has.
func TestRecallRefuses(t *testing.T) {
	pool := &Pool{}
	pool.Learn([]Answer{{class: 2, stayed: true, said: said{sayAlways: 1}}})
	good := pool.Learnt()
	if (&Pool{}).Learnt() != nil {
		t.Error("a pool that learnt nothing tells something")
	}
	put := func(at int, x float64) []byte {
		b := bytes.Clone(good)
		binary.BigEndian.PutUint64(b[1+8*at:], math.Float64bits(x))
		return b
	}
	const weight, pull, curvature, second = 1, 2, 3, 6 // of the first regression's first two terms
	for name, b := range map[string][]byte{
		"nothing": nil, "another version": append([]byte{learntVersion + 1}, good[1:]...),
		"cut off": good[:LearntSize-1], "too long": append(bytes.Clone(good), 0),
		"seen no number":             put(0, math.NaN()),
		"seen more than is kept":     put(0, 2*fitMemory),
		"a weight beyond its bounds": put(weight, mostJoint+1),
		"a weight no number":         put(weight, math.NaN()),
		"a pull without end":         put(pull, math.Inf(-1)),
		"a negative square":          put(curvature, -1),
		"a product beyond squares":   put(second, 1e6),
		"a loss below none":          put(lessonNumbers-1, -1),
		"a loss without end":         put(lessonNumbers-1, math.Inf(1)),
		"every part has lost":        lose(good),
	} {
		if err := pool.Recall(b); err == nil {
			t.Errorf("%s: recalled", name)
		}
		if !bytes.Equal(pool.Learnt(), good) {
			t.Fatalf("%s: the pool is another", name)
		}
	}
}

// lose has every part of the first horizon have lost something more.
func lose(b []byte) []byte {
	b = bytes.Clone(b)
	for i := range parts {
		at := b[1+8*(lessonNumbers-1-i):]
		binary.BigEndian.PutUint64(at, math.Float64bits(1+math.Float64frombits(binary.BigEndian.Uint64(at))))
	}
	return b
}

// FuzzRecall: whatever the bytes are, what is recalled answers between 0 and 1, falls with
// the horizon, learns on, and is told as it was read.
func FuzzRecall(f *testing.F) {
	pool := &Pool{}
	blend := NewBlend(pool)
	noon := office(blend).Add(12 * time.Hour)
	pool.Learn(blend.Answers())
	blend.Tick(noon)
	rec := blend.Record()
	f.Add(pool.Learnt(), 0, 0.0)
	f.Add(pool.Learnt(), 3, 17.0)
	f.Fuzz(func(t *testing.T, b []byte, at int, x float64) {
		// Most changes of bytes make no such numbers, so one is put in.
		if len(b) == LearntSize && at >= 0 && at < (LearntSize-1)/8 {
			b = bytes.Clone(b)
			binary.BigEndian.PutUint64(b[1+8*at:], math.Float64bits(x))
		}
		p := &Pool{}
		if p.Recall(b) != nil {
			if p.lessons != nil {
				t.Fatal("bytes that are refused taught something")
			}
			return
		}
		if !bytes.Equal(p.Learnt(), b) {
			t.Fatal("told as something else")
		}
		for range 2 {
			n, was := NewReader(&rec, p), 1.0
			for _, d := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 5 * time.Hour, 24 * time.Hour,
				9 * 24 * time.Hour} {
				q, _ := n.Stay(noon, d)
				if !(q >= 0 && q <= was) {
					t.Fatalf("a stay for %v has probability %v, for less %v", d, q, was)
				}
				was = q
			}
			var a Answer
			a.class = 4
			n.say(&a.said, noon.UnixMilli(), anchors[4])
			p.Learn([]Answer{a})
		}
	})
}
