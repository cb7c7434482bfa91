package referee

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"testing"

	"godwit/task"
)

// vouched is a state that a worker left whose run went on from others.
func vouched(t *testing.T, id task.TaskID, worker byte, fuel uint64, before []task.Link) task.Link {
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
		Prior: task.PriorOf(before), Engine: "amd64", Pass: 1})
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
