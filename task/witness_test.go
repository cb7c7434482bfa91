package task

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// aState is what the n-th worker vouches for with a run that had a chain, whose boundaries are those.
func aState(tb testing.TB, id TaskID, n, fuel uint64, hash byte, of []Boundary, chain []Link) Link {
	tb.Helper()
	leader, worker := testKey(1), testKey(100+n)
	receipt, err := NewReceipt(leader, PeerIDOf(leader.Public().(ed25519.PublicKey)), id,
		PeerIDOf(worker.Public().(ed25519.PublicKey)), Receipt{Epoch: 1, Seq: n, Issued: 1})
	if err != nil {
		tb.Fatal(err)
	}
	l := Link{CID: RawCID([]byte{byte(n), hash}), Fuel: fuel, CPU: 5}
	v, err := Vouch(worker, receipt, State{Task: id, CID: l.CID, Fuel: fuel, CPU: 5, Pass: 1,
		Hash: bytes.Repeat([]byte{hash}, 32), Prior: PriorOf(chain), Boundaries: uint32(len(of)), Root: TrailRoot(of)})
	if err != nil {
		tb.Fatal(err)
	}
	l.Voucher = *v
	return l
}

func boundaryAt(fuel uint64, hash byte) Boundary {
	return Boundary{fuel, [32]byte(bytes.Repeat([]byte{hash}, 32))}
}

// agreedOn is a chain with a state at fuel 40 that three lines came to: the first's worker left it, the second's came
// to it as to a boundary, and of the third's one left it and another went on.
func agreedOn(tb testing.TB, id TaskID) []Link {
	tb.Helper()
	at := boundaryAt(40, 4)
	of := []Boundary{boundaryAt(10, 1), boundaryAt(20, 2), at, boundaryAt(50, 5)}
	left := aState(tb, id, 1, 40, 4, nil, nil)
	third := []Link{aState(tb, id, 3, 40, 4, nil, nil)}
	third = ChainOn(aState(tb, id, 4, 70, 7, nil, third), third)
	left.With = Agree(left, nil, []*Witness{
		Witnessed([]Link{aState(tb, id, 2, 55, 6, of, nil)}, of, at), Witnessed(third, nil, at)}, 3)
	if len(left.With) != 2 {
		tb.Fatalf("there are %d witnesses", len(left.With))
	}
	return []Link{left}
}

// TestAgreedState: for what comes of a state on which replicas agree nobody answers who came before it. Others'
// results know it by what was signed.
func TestAgreedState(t *testing.T) {
	id := TaskID{Job: aJob, Index: 3}
	chain := agreedOn(t, id)
	chain = ChainOn(aState(t, id, 5, 60, 6, nil, chain), chain)
	if err := VerifyChain(id, chain); err != nil {
		t.Fatal(err)
	}
	by, whole := AnsweredBy("w", chain)
	if want := []PeerID{"w", chain[0].Voucher.Worker}; !whole || !slices.Equal(by, want) {
		t.Errorf("%v answer, want %v", by, want)
	}
	r := Result{Task: id, Outcome: Completed, Trail: &Trail{Pass: 1, Fuel: 100, Began: chain}}
	if err := r.Sign(testKey(9)); err != nil || r.Verify() != nil {
		t.Fatal(err, r.Verify())
	}
	var again Result
	if b, err := Encode(&r); err != nil || Decode(b, &again) != nil || again.Verify() != nil {
		t.Error("it does not come back as it was", err)
	}
	for replicas, want := range []bool{false, false, true, true, false} {
		if err := CheckAgreed(&Job{Replicas: replicas}, chain); (err == nil) != want {
			t.Errorf("of %d replicas that must agree: %v", replicas, err)
		}
	}
	// Where a later state is agreed on, what was agreed on before does not matter.
	later := aState(t, id, 6, 80, 8, nil, chain)
	later.With = []Witness{*Witnessed([]Link{aState(t, id, 7, 80, 8, nil, nil)}, nil, boundaryAt(80, 8))}
	all := ChainOn(later, chain)
	if err := VerifyChain(id, all); err != nil || len(all) != 3 || len(all[2].With) > 0 || len(chain[1].With) == 0 {
		t.Error(err)
	}
	if len(Agree(later, chain, nil, 2)) > 0 || Agree(later, all[:1:1], nil, 2) != nil {
		t.Error("nobody else, or a line that is cut short, is enough")
	}
}

// TestLyingWitnesses: no state is agreed on by words that are not of it, that a worker gives twice, or that nobody
// signed.
func TestLyingWitnesses(t *testing.T) {
	id, at := TaskID{Job: aJob, Index: 3}, boundaryAt(40, 4)
	of := []Boundary{boundaryAt(10, 1), at}
	other := []Boundary{boundaryAt(10, 1), boundaryAt(40, 9)}
	for name, lie := range map[string]func(l *Link){
		"another state there": func(l *Link) {
			l.With[1].Chain = l.With[1].Chain[:1]
			l.With[1].Chain[0].Voucher.Hash[0]++
		},
		"another boundary":      func(l *Link) { l.With[0].Place = 1 },
		"beyond its boundaries": func(l *Link) { l.With[0].Place = 99 },
		"a way that is none":    func(l *Link) { l.With[0].Path = l.With[0].Path[:1] },
		"a way of short hashes": func(l *Link) { l.With[0].Path[1] = []byte{1} },
		"no way":                func(l *Link) { l.With[0].Path, l.With[0].Place = nil, 0 },
		"twice":                 func(l *Link) { l.With[1] = l.With[0] },
		"its own word": func(l *Link) {
			l.With[0] = *Witnessed([]Link{aState(t, id, 1, 40, 4, nil, nil)}, nil, at)
		},
		"one who went on from the other's": func(l *Link) {
			mine := *l
			mine.With = nil
			l.With[0] = *Witnessed([]Link{aState(t, id, 8, 50, 5, nil, []Link{mine}), mine}, nil, at)
		},
		"forged": func(l *Link) { l.With[0].Chain[0].Voucher.Signature[0]++ },
		"of another task": func(l *Link) {
			l.With[0] = *Witnessed([]Link{aState(t, TaskID{Job: aJob}, 2, 55, 6, of, nil)}, of, at)
		},
		"cut short": func(l *Link) {
			l.With[1].Chain = l.With[1].Chain[:1]
			l.With[1].Chain[0].Voucher.Prior = make([]byte, 32)
		},
		"nobody":          func(l *Link) { l.With[0].Chain = nil },
		"too many":        func(l *Link) { l.With = make([]Witness, MaxWitnesses+1) },
		"without a state": func(l *Link) { l.Voucher.Hash = nil },
	} {
		chain := agreedOn(t, id)
		if lie(&chain[0]); VerifyChain(id, chain) == nil {
			t.Errorf("%s: it is believed", name)
		}
	}
	for name, w := range map[string]*Witness{
		"to another state":  Witnessed([]Link{aState(t, id, 2, 55, 6, other, nil)}, other, at),
		"another way":       Witnessed([]Link{aState(t, id, 2, 55, 6, other, nil)}, of, at),
		"not so far":        Witnessed([]Link{aState(t, id, 2, 30, 6, nil, nil)}, nil, at),
		"left another":      Witnessed([]Link{aState(t, id, 2, 40, 6, nil, nil)}, nil, at),
		"nobody":            Witnessed(nil, nil, at),
		"too long":          Witnessed(aChain(t, id, MaxWitnessLinks+1), nil, Boundary{Fuel: 10 + MaxWitnessLinks}),
		"one that is short": Witnessed(aChain(t, id, 5)[:4], nil, boundaryAt(14, 4)),
	} {
		if w != nil {
			t.Errorf("%s: it is a witness", name)
		}
	}
}

// TestPaths: from each of up to MaxBoundaries boundaries a way leads to their root, and from none other.
func TestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, MaxBoundaries).Draw(t, "boundaries")
		of := make([]Boundary, n)
		for k := range of {
			of[k] = boundaryAt(uint64(k+1), byte(k))
		}
		k := rapid.IntRange(0, n-1).Draw(t, "which")
		path := pathTo(leavesOf(of), k)
		root, err := rootBy(leafOf(of[k]), k, n, path)
		if err != nil || len(path) > maxWay || !bytes.Equal(root[:], TrailRoot(of)) {
			t.Fatalf("a way of %d to another root: %v", len(path), err)
		}
		if o := rapid.IntRange(0, n-1).Draw(t, "other"); o != k {
			if root, err := rootBy(leafOf(of[o]), k, n, path); err == nil && bytes.Equal(root[:], TrailRoot(of)) {
				t.Fatal("another boundary leads there")
			}
		}
	})
}
