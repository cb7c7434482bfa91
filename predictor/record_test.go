package predictor

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/internal/roundtrip"
	"godwit/trace"
)

// mostGossip is what the network grants a survival record.
const mostGossip = 96

func TestRecordSize(t *testing.T) {
	if RecordSize > mostGossip {
		t.Errorf("a record has %d bytes, at most %d are granted", RecordSize, mostGossip)
	}
	full := Record{Up: true, Since: math.MaxUint32, Leave: math.MaxUint32, Known: 255}
	for k := range octaves {
		full.Ends[k], full.Lost[k] = 255, 15
	}
	for h := range 24 {
		full.Exits[h], full.Exposure[h] = 15, 15
	}
	for i := range full.Whole {
		full.Whole[i] = 255
	}
	for i := range recents {
		full.RecentExits[i], full.RecentUp[i] = 255, 255
	}
	for i := range full.Excess {
		full.Excess[i] = 127
	}
	full.Lean = [leans]int8{leanSteps, -leanSteps}
	for _, r := range []Record{{}, full} {
		b, err := r.MarshalBinary()
		if err != nil || len(b) != RecordSize {
			t.Errorf("%d bytes, %v, want %d", len(b), err, RecordSize)
		}
		var back Record
		if err := back.UnmarshalBinary(b); err != nil || back != r {
			t.Errorf("read back %+v, %v, want %+v", back, err, r)
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	good, _ := (&Record{}).MarshalBinary()
	change := func(i int, v byte) []byte {
		b := append([]byte(nil), good...)
		b[i] = v
		return b
	}
	for name, b := range map[string][]byte{
		"empty": nil, "short": good[1:], "long": append(change(0, recordVersion), 0),
		"version": change(0, recordVersion-1), "lean": change(1, 16), "seen and not watched": change(1, 3),
		"no excess": change(RecordSize-1, 128),
	} {
		r := Record{Known: 7}
		if err := r.UnmarshalBinary(b); err == nil || r != (Record{Known: 7}) {
			t.Errorf("%s: %v, left %+v", name, err, r)
		}
	}
}

// FuzzRecord: what is read is written back byte for byte, and any record that
// passes can be asked, alone and as all of a pool.
func FuzzRecord(f *testing.F) {
	empty, _ := (&Record{}).MarshalBinary()
	f.Add(empty)
	r := NewRecorder(&Pool{})
	lively(Blend{r})
	rec := r.Record()
	b, _ := rec.MarshalBinary()
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Record
		if r.UnmarshalBinary(b) != nil {
			return
		}
		roundtrip.Same(t, b, &r, (*Record).MarshalBinary, func(b []byte) (*Record, error) {
			var r Record
			return &r, r.UnmarshalBinary(b)
		})
		pool := &Pool{}
		pool.Add(&r)
		n := NewReader(&r, pool)
		last := 1.0
		for _, d := range []time.Duration{0, 1, time.Minute, time.Hour, 24 * time.Hour, 1000 * time.Hour, math.MaxInt64} {
			p, _ := n.Stay(time.Unix(int64(r.Since), 0).Add(90*time.Minute), d)
			if !(p >= 0 && p <= last) {
				t.Fatalf("a stay of %v: %v after %v", d, p, last)
			}
			last = p
		}
	})
}

// lively tells a week of a host that comes and goes.
func lively(p Predictor) {
	at := start
	for i := range 60 {
		p.Observe(at, trace.State(i%2*4))
		at = at.Add(time.Duration(i%7+1) * 37 * time.Minute)
	}
	p.Observe(at, trace.Available)
}

// Any life gives a record that can be written, and probabilities that fall with
// the horizon.
func TestRecorderHoldsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := &Pool{}
		r := NewRecorder(pool)
		at := start
		for range rapid.IntRange(0, 80).Draw(t, "changes") {
			at = at.Add(time.Duration(math.Exp(rapid.Float64Range(0, 17).Draw(t, "wait"))) * time.Second)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				r.Blind(at)
			case 1:
				r.Tick(at)
			case 2:
				r.Observe(at, trace.UserPresent)
			default:
				r.Observe(at, trace.Available)
			}
			if rapid.IntRange(0, 9).Draw(t, "gossip") == 0 {
				rec := r.Record()
				pool.Add(&rec)
			}
		}
		r.Observe(at, trace.Available)
		rec := r.Record()
		b, err := rec.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Record
		if err := back.UnmarshalBinary(b); err != nil || back != rec {
			t.Fatalf("%+v read back as %+v, %v", rec, back, err)
		}
		now := at.Add(time.Duration(rapid.Int64Range(0, int64(100*24*time.Hour)).Draw(t, "age")))
		last := 1.0
		for d := time.Second; d < 2000*time.Hour; d += d/3 + 1 {
			p, _ := r.Reader().Stay(now, d)
			if !(p >= 0 && p <= last+1e-12) {
				t.Fatalf("a stay of %v: %v after %v", d, p, last)
			}
			last = p
		}
	})
}
