package task

import (
	"crypto/sha256"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ranBy is a result whose run went on from states that these left, the earliest first, with what its
// worker w kept.
func ranBy(left ...PeerID) (*Result, *KeptStates) {
	const base, n = 3, 9
	t := &Trail{Pass: 1, Fuel: (base+n+1)*DefaultSpacing - 1}
	for k, by := range left {
		h := sha256.Sum256([]byte(by))
		t.Began = append([]Link{{CID: RawCID([]byte(by)), Fuel: uint64(k)*1000 + base*DefaultSpacing,
			Voucher: Voucher{Worker: by, Hash: h[:], Prior: PriorOf(t.Began)}}}, t.Began...)
	}
	kept := &KeptStates{}
	for k := range n {
		fuel := uint64(k) + t.Base()/DefaultSpacing*DefaultSpacing + uint64(k+1)*DefaultSpacing
		h := sha256.Sum256([]byte{byte(k)})
		kept.States = append(kept.States, KeptState{Fuel: fuel, Hash: h[:], CID: RawCID(h[:])})
	}
	if len(left) == 0 {
		t.Fuel = (n+1)*DefaultSpacing - 1
	}
	t.Boundaries, t.Root = n, TrailRoot(kept.Boundaries())
	return &Result{Worker: "w", Outcome: Completed, Trail: t}, kept
}

// Each part of a run is of who signed where it ends, from what the same signed before; nothing else is one.
func TestSegment(t *testing.T) {
	plain, plainKept := ranBy()
	moved, movedKept := ranBy("a", "b", "b")
	cut, _ := ranBy("a", "b")
	cut.Trail.Began[1].Voucher.Prior = make([]byte, 32)
	for name, tt := range map[string]struct {
		of    *Result
		p     *PartProof
		by    PeerID
		ends  bool
		state bool // it begins with one whose blocks are named
		why   string
	}{
		"from the beginning": {plain, plain.Trail.ProveIntervals(0, 0, 0, plainKept), "w", false, false, ""},
		"between":            {plain, plain.Trail.ProveIntervals(0, 4, 4, plainKept), "w", false, true, ""},
		"to the end":         {plain, plain.Trail.ProveIntervals(0, 9, 9, plainKept), "w", true, true, ""},
		"several at once":    {plain, &PartProof{First: 0, Last: 4, Kept: plainKept.States}, "w", false, false, ""},
		"of the first":       {moved, moved.Trail.ProveLink(2), "a", false, false, ""},
		"of the second":      {moved, moved.Trail.ProveLink(1), "b", false, true, ""},
		"of it once more":    {moved, moved.Trail.ProveLink(0), "b", false, true, ""},
		"of both its states": {moved, &PartProof{First: 1, Last: 3}, "b", false, true, ""},
		"from theirs":        {moved, moved.Trail.ProveIntervals(0, 0, 0, movedKept), "w", false, true, ""},
		"from theirs to the end, boundaries or not": {moved, &PartProof{First: 3, Last: 4}, "w", true, true, ""},
		"of two workers":   {moved, &PartProof{First: 0, Last: 2}, "", false, false, "several workers"},
		"of all":           {moved, &PartProof{First: 0, Last: 4}, "", false, false, "several workers"},
		"from the unknown": {cut, &PartProof{First: 0, Last: 1}, "", false, false, "not named any more"},
		"from the known":   {cut, cut.Trail.ProveLink(0), "b", false, true, ""},
		"nothing":          {plain, &PartProof{First: 1, Last: 1}, "", false, false, "from point 1 to 1"},
		"beyond":           {plain, &PartProof{First: 0, Last: 2}, "", false, false, "the last is 1"},
		"far beyond":       {plain, &PartProof{First: 1<<32 - 2, Last: 1<<32 - 1}, "", false, false, "the last is 1"},
		"others' boundaries": {plain, &PartProof{First: 0, Last: 1, Kept: movedKept.States}, "", false, false,
			"not those that the worker signed"},
		"of no trail": {&Result{Worker: "w"}, &PartProof{Last: 1}, "", false, false, "no trail"},
	} {
		s, err := tt.of.Segment(tt.p, DefaultSpacing)
		if (err != nil) != (tt.why != "") || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err == nil && (s.By != tt.by || s.Ends() != tt.ends || (s.State != "") != tt.state ||
			s.To <= s.From || (len(s.Before) > 0) != (tt.p.First > 0) || s.State != tt.of.StateOf(tt.p)) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Whatever a proof says, a part of a run is of one worker, and lies within the run.
func TestHostileSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, kept := ranBy(rapid.SliceOfN(rapid.SampledFrom([]PeerID{"a", "b", "w"}), 0, 3).Draw(t, "left")...)
		p := &PartProof{First: rapid.Uint32Range(0, 16).Draw(t, "first"), Last: rapid.Uint32Range(0, 16).Draw(t, "last")}
		if rapid.Bool().Draw(t, "kept") {
			p.Kept = kept.States
		}
		p.Leg = rapid.Uint32Range(0, 4).Draw(t, "leg")
		_ = r.StateOf(p)
		s, err := r.Segment(p, DefaultSpacing)
		if err != nil {
			return
		}
		for _, q := range r.points(p.Leg, p.Kept)[p.First+1 : p.Last+1] {
			if q.by != s.By || q.fuel < s.From || q.fuel > s.To {
				t.Fatalf("%+v leads over %+v", s, q)
			}
		}
	})
}
