package task

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// movedOver is a run of so much fuel that went from worker to worker at these fuels, the earliest first, and the
// boundaries of its legs, by number.
func movedOver(fuel uint64, at ...uint64) (*Result, [][]Boundary) {
	var chain []Link
	legs, base := [][]Boundary{}, uint64(0)
	for k, to := range at {
		tr, of := trailOf(base, to)
		h := sha256.Sum256([]byte{byte(k)})
		chain = ChainOn(Link{Fuel: to, Voucher: Voucher{Worker: PeerID(rune('a' + k)), Hash: h[:], Prior: PriorOf(chain),
			Pass: 1, Boundaries: tr.Boundaries, Root: tr.Root}}, chain)
		legs, base = append([][]Boundary{of}, legs...), to
	}
	last, of := trailOf(base, fuel)
	last.Began = chain
	return &Result{Worker: "w", Outcome: Completed, Trail: last}, append([][]Boundary{of}, legs...)
}

func keptOf(of []Boundary) *KeptStates {
	k := &KeptStates{}
	for _, b := range of {
		k.States = append(k.States, KeptState{Fuel: b.Fuel, Hash: slices.Clone(b.State[:]), CID: RawCID(b.State[:])})
	}
	return k
}

// Whoever a task went to, each interval of each leg is one of its parts, begins where the one before it ends, and
// can be shown as the work of the one worker that ran it.
func TestLegs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fuel := rapid.Uint64Range(MinIntervals*spaced, 500*spaced).Draw(rt, "fuel")
		at := rapid.SliceOfN(rapid.Uint64Range(1, fuel), 1, 6).Draw(rt, "at")
		slices.Sort(at)
		r, of := movedOver(fuel, at...)
		legs := r.Trail.Legs(spaced)
		if len(legs) != len(at)+1 {
			rt.Fatalf("legs are %v", legs)
		}
		end, n := uint64(0), 0
		for k := len(legs) - 1; k >= 0; k-- {
			leg := r.Leg(k)
			if err := leg.Trail.CheckBoundaries(of[k], spaced); err != nil || legs[k] != r.Trail.LegIntervals(k, spaced) {
				rt.Fatalf("leg %d of %v: %v", k, legs, err)
			}
			if leg.Trail.Base() != end {
				rt.Fatalf("leg %d is from %d, the one before it ends at %d", k, leg.Trail.Base(), end)
			}
			for i := range legs[k] {
				s, err := r.Segment(r.Trail.ProveIntervals(k, i, i, keptOf(of[k])), spaced)
				if err != nil && s.To > s.From {
					rt.Fatalf("interval %d of leg %d: %v", i, k, err)
				}
				if err == nil && (s.By != leg.Worker || s.From != end || s.Ends() != (k == 0 && i == legs[k]-1)) {
					rt.Fatalf("interval %d of leg %d is %+v, after %d", i, k, s, end)
				}
				if i < len(of[k]) {
					end = of[k][i].Fuel
				} else {
					end = leg.Trail.Fuel
				}
			}
			n += legs[k]
		}
		if end != fuel || n != r.Trail.Parts(spaced) {
			rt.Fatalf("%d parts end at %d of %d", n, end, fuel)
		}
	})
}

// No worker hides a leg, or much work in one interval: then the task has no parts but those of the last leg.
func TestHostileLegs(t *testing.T) {
	hash := make([]byte, sha256.Size)
	for name, lie := range map[string]func(l []Link){
		"too few":             func(l []Link) { l[0].Voucher.Boundaries-- },
		"none":                func(l []Link) { l[0].Voucher.Boundaries, l[0].Voucher.Root = 0, nil },
		"too many":            func(l []Link) { l[1].Voucher.Boundaries++ },
		"of another version":  func(l []Link) { l[1].Voucher.Pass = 2 },
		"of no version":       func(l []Link) { l[1].Voucher.Pass = 0 },
		"at another fuel":     func(l []Link) { l[0].Fuel += 4 * spaced },
		"that goes backwards": func(l []Link) { l[0].Fuel = l[1].Fuel - 1 },
		"from the unknown":    func(l []Link) { l[1].Voucher.Prior = hash },
	} {
		r, _ := movedOver(30*spaced, 10*spaced+5, 20*spaced+5)
		lie(r.Trail.Began)
		if legs := r.Trail.Legs(spaced); legs != nil || r.Trail.LegIntervals(1, spaced) != 0 {
			t.Errorf("a leg %s: %v", name, legs)
		}
	}
	many := make([]uint64, MaxChain)
	for k := range many {
		many[k] = uint64(k+1) * 1000 * spaced
	}
	if r, _ := movedOver(65_000*spaced, many...); r.Trail.Parts(spaced) > MaxParts {
		t.Errorf("%d parts", r.Trail.Parts(spaced))
	}
	r, of := movedOver(30*spaced, 10*spaced+5, 20*spaced+5)
	for name, lie := range map[string]func(k []KeptState) []KeptState{
		"too short":     func(k []KeptState) []KeptState { return k[1:] },
		"not ascending": func(k []KeptState) []KeptState { k[1], k[2] = k[2], k[1]; return k },
		"of another":    func([]KeptState) []KeptState { return keptOf(of[2]).States },
		"other fuel":    func(k []KeptState) []KeptState { k[3].Fuel++; return k },
		"other states":  func(k []KeptState) []KeptState { k[3].Hash[0] ^= 1; return k },
		"too many":      func(k []KeptState) []KeptState { return append(k, make([]KeptState, MaxBoundaries)...) },
	} {
		kept := lie(keptOf(of[1]).States)
		if s, err := r.Segment(&PartProof{First: 1, Last: 2, Leg: 1, Kept: kept}, spaced); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s, err := r.Segment(&PartProof{First: 0, Last: 1, Leg: 3}, spaced); err == nil {
		t.Errorf("of a leg that is none: %+v", s)
	}
	if c := r.StateOf(&PartProof{Leg: 3}); c != "" {
		t.Errorf("it begins with %s", c)
	}
}

// What a worker signed of its boundaries with a state holds for these alone.
func TestVouchedBoundaries(t *testing.T) {
	id := TaskID{Job: aJob, Index: 3}
	root := bytes.Repeat([]byte{4}, sha256.Size)
	state := State{Task: id, CID: RawCID(nil), Fuel: 10, Hash: make([]byte, 32), Pass: 1, Boundaries: 2, Root: root}
	leader, worker := testKey(1), testKey(2)
	of := func(k ed25519.PrivateKey) PeerID { return PeerIDOf(k.Public().(ed25519.PublicKey)) }
	receipt, err := NewReceipt(leader, of(leader), id, of(worker), Receipt{Epoch: 1})
	if err != nil {
		t.Fatal(err)
	}
	v, err := Vouch(worker, receipt, state)
	if err != nil || v.Verify(state) != nil {
		t.Fatal(err, v.Verify(state))
	}
	for name, lie := range map[string]func(*Voucher){
		"more":    func(v *Voucher) { v.Boundaries++ },
		"none":    func(v *Voucher) { v.Boundaries, v.Root = 0, nil },
		"another": func(v *Voucher) { v.Root = bytes.Repeat([]byte{5}, sha256.Size) },
		"no root": func(v *Voucher) { v.Root = nil },
		"no pass": func(v *Voucher) { v.Pass = 0 },
	} {
		lying := *v
		if lie(&lying); lying.Verify(state) == nil {
			t.Errorf("%s: it holds", name)
		}
	}
	for name, lie := range map[string]func(*State){
		"too many":        func(s *State) { s.Boundaries = MaxBoundaries + 1 },
		"half a root":     func(s *State) { s.Root = root[:16] },
		"a root of none":  func(s *State) { s.Boundaries = 0 },
		"of no version":   func(s *State) { s.Pass = 0 },
		"of what is bad":  func(s *State) { s.Bad, s.Fuel, s.Hash, s.Pass = true, 0, nil, 0 },
		"a root too long": func(s *State) { s.Root = append(root[:32:32], 1) },
	} {
		s := state
		if lie(&s); s.Boundaries != state.Boundaries || !bytes.Equal(s.Root, root) || s.Pass != 1 {
			if _, err := Vouch(worker, receipt, s); err == nil {
				t.Errorf("%s: it is signed", name)
			}
		}
	}
}
