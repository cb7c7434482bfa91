package referee

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"testing"

	"godwit/task"
)

// vouched is a state that a worker left whose run went on from others.
func vouched(t *testing.T, id task.TaskID, worker byte, fuel uint64, before []task.Link,
	of ...task.Boundary) task.Link {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = worker
	own := ed25519.NewKeyFromSeed(seed)
	l := task.Link{CID: task.RawCID([]byte{worker, byte(fuel)}), Fuel: fuel}
	receipt, err := task.NewReceipt(key, task.PeerIDOf(key.Public().(ed25519.PublicKey)), id,
		task.PeerIDOf(own.Public().(ed25519.PublicKey)), task.Receipt{Epoch: 1, Seq: fuel})
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte{worker, byte(fuel)})
	v, err := task.Vouch(own, receipt, task.State{Task: id, CID: l.CID, Fuel: fuel, Hash: hash[:],
		Prior: task.PriorOf(before), Engine: "amd64", Pass: 1,
		Boundaries: uint32(len(of)), Root: task.TrailRoot(of)})
	if err != nil {
		t.Fatal(err)
	}
	l.Voucher = *v
	return l
}

// ofState is a statement about a state that went on from another.
func ofState(t *testing.T) Statement {
	s := statement(t, nil)
	id := s.Result.Task
	first := vouched(t, id, 1, 10, nil)
	return Statement{Record: s.Record, Result: task.Result{Task: id},
		Chain: []task.Link{vouched(t, id, 2, 25, []task.Link{first}), first}}
}

// A statement about a state opens if all vouched for it who left the states before, and is about nothing else.
func TestOpenState(t *testing.T) {
	s := ofState(t)
	spec, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	if by := s.By(spec.Spacing()); by != s.Chain[0].Voucher.Worker {
		t.Errorf("%s is said to be wrong", by)
	}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if read, err := Decode(b); err != nil || len(read.Chain) != 2 {
		t.Errorf("%+v, %v", read, err)
	}
	for name, change := range map[string]func(s *Statement){
		"of another task":         func(s *Statement) { s.Result.Task.Index = 1 },
		"of no task of the job":   func(s *Statement) { s.Result.Task.Index = 9 },
		"with a part":             func(s *Statement) { s.Part = &task.PartProof{Last: 1} },
		"with a result":           func(s *Statement) { s.Result.Worker = "w" },
		"of other fuel":           func(s *Statement) { s.Chain[0].Fuel++ },
		"of another state":        func(s *Statement) { s.Chain[0].CID = s.Chain[1].CID },
		"of another compiler":     func(s *Statement) { s.Chain[0].Voucher.Engine = "arm64" },
		"of another version":      func(s *Statement) { s.Chain[0].Voucher.Pass++ },
		"that hides how":          func(s *Statement) { s.Chain[0].Voucher.Engine, s.Chain[0].Voucher.Pass = "", 0 },
		"cut short":               func(s *Statement) { s.Chain = s.Chain[:1] },
		"in another order":        func(s *Statement) { s.Chain[0], s.Chain[1] = s.Chain[1], s.Chain[0] },
		"of a state before it":    func(s *Statement) { s.Chain[1] = s.Chain[0] },
		"another signed":          func(s *Statement) { s.Chain[0].Voucher.Worker = s.Chain[1].Voucher.Worker },
		"a receipt of another":    func(s *Statement) { s.Chain[0].Voucher.Receipt = s.Chain[1].Voucher.Receipt },
		"of more states than are": func(s *Statement) { s.Chain = make([]task.Link, task.MaxChain+1) },
	} {
		s := ofState(t)
		change(&s)
		if _, err := s.Open(); err == nil {
			t.Errorf("%s: it opens", name)
		}
	}
}

// Who left a state is proven wrong if the state before it leads to another, and nobody else.
func TestJudgeState(t *testing.T) {
	s := ofState(t)
	signed, proof := s.Claim()
	part, err := signed.Segment(proof, task.DefaultSpacing)
	if err != nil {
		t.Fatal(err)
	}
	if part.From != 10 || part.To != 25 || part.State != s.Chain[1].CID || part.Engine != "amd64" || part.Pass != 1 {
		t.Fatalf("%+v is run", part)
	}
	for name, tt := range map[string]struct {
		comes []byte
		want  Verdict
	}{"right": {s.Chain[0].Voucher.Hash, Nothing}, "wrong": {make([]byte, sha256.Size), Proven}} {
		r := Referee{Signed: signed, Part: &part, Run: func(_ context.Context, _ bool, stopAt uint64) (*task.Result, error) {
			return &task.Result{Outcome: task.Interrupted, Trail: &task.Trail{Pass: 1, Fuel: stopAt, Last: tt.comes,
				Engine: "amd64"}}, nil
		}}
		f, err := r.Judge(t.Context())
		if err != nil || f.Verdict != tt.want || tt.want == Proven &&
			(f.By != s.Chain[0].Voucher.Worker || f.Theirs != Made{"amd64", 1}) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// ofWay is a statement about the part of a leg up to its second boundary.
func ofWay(t *testing.T) Statement {
	s := statement(t, nil)
	id := s.Result.Task
	const spacing = task.DefaultSpacing
	first := vouched(t, id, 1, 10, nil)
	of := []task.Boundary{{Fuel: spacing, State: [32]byte{1}}, {Fuel: 2*spacing + 1, State: [32]byte{2}},
		{Fuel: 3 * spacing, State: [32]byte{3}}}
	s = Statement{Record: s.Record, Result: task.Result{Task: id},
		Chain: []task.Link{vouched(t, id, 2, 3*spacing+5, []task.Link{first}, of...), first}}
	s.Part = &task.PartProof{First: 1, Last: 3, Leg: 1}
	for _, b := range of {
		s.Part.Kept = append(s.Part.Kept, task.KeptState{Fuel: b.Fuel, Hash: b.State[:]})
	}
	return s
}

// Of a leg that ended with a state a part can be shown, up to a boundary that its worker signed; not one that it did
// not, and none that hides who ran it.
func TestOpenPartOfState(t *testing.T) {
	s := ofWay(t)
	spec, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = Decode(b); err != nil {
		t.Fatal(err)
	}
	signed, proof := s.Claim()
	part, err := signed.Segment(proof, spec.Spacing())
	if err != nil || part.From != 10 || part.To != 2*task.DefaultSpacing+1 || part.After[0] != 2 ||
		part.Engine != "amd64" ||
		part.State != s.Chain[1].CID || part.Ends() || s.By(spec.Spacing()) != s.Chain[0].Voucher.Worker {
		t.Errorf("%+v is run, %v", part, err)
	}
	for comes, want := range map[byte]Verdict{2: Nothing, 3: Proven} {
		last := [32]byte{comes}
		r := Referee{Signed: signed, Part: &part}
		r.Run = func(_ context.Context, _ bool, stopAt uint64) (*task.Result, error) {
			return &task.Result{Outcome: task.Interrupted, Trail: &task.Trail{Pass: 1, Fuel: stopAt, Last: last[:],
				Engine: "amd64"}}, nil
		}
		if f, err := r.Judge(t.Context()); err != nil || f.Verdict != want || want == Proven && f.By != part.By {
			t.Errorf("where the part comes to state %d: %+v, %v", comes, f, err)
		}
	}
	for name, lie := range map[string]func(s *Statement){
		"of another leg":          func(s *Statement) { s.Part.Leg = 2 },
		"of the end":              func(s *Statement) { s.Part.Leg = 0 },
		"of no leg":               func(s *Statement) { s.Part.Leg = 1 << 31 },
		"with a result":           func(s *Statement) { s.Result.Worker = s.Chain[0].Voucher.Worker },
		"another state":           func(s *Statement) { s.Part.Kept[1].Hash[0]++ },
		"at another fuel":         func(s *Statement) { s.Part.Kept[1].Fuel++ },
		"one less":                func(s *Statement) { s.Part.Kept = s.Part.Kept[:2] },
		"one twice":               func(s *Statement) { s.Part.Kept[1] = s.Part.Kept[0] },
		"beyond the state":        func(s *Statement) { s.Part.Last = 6 },
		"backwards":               func(s *Statement) { s.Part.First = 3 },
		"what two workers ran":    func(s *Statement) { s.Part.First = 0 },
		"a root that none signed": func(s *Statement) { s.Chain[0].Voucher.Root = make([]byte, 32) },
		"of a chain cut short":    func(s *Statement) { s.Chain, s.Part.First = s.Chain[:1], 0 },
	} {
		s := ofWay(t)
		lie(&s)
		if _, err := s.Open(); err == nil {
			t.Errorf("%s: it opens", name)
		}
	}
}
