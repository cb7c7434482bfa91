package task

import (
	"bytes"
	"crypto/ed25519"
	"testing"
)

// aChain is how a task went on n times, each time with another worker; the first link is the last
// of them.
func aChain(tb testing.TB, id TaskID, n int) []Link {
	tb.Helper()
	var chain []Link
	for k := range n {
		leader, worker := testKey(1), testKey(uint64(2+k))
		receipt, err := NewReceipt(leader, PeerIDOf(leader.Public().(ed25519.PublicKey)), id,
			PeerIDOf(worker.Public().(ed25519.PublicKey)), Receipt{Epoch: 1, Seq: uint64(k), Issued: 1})
		if err != nil {
			tb.Fatal(err)
		}
		l := Link{CID: RawCID([]byte{byte(k)}), Fuel: uint64(10 + k), CPU: 5}
		v, err := Vouch(worker, receipt, State{Task: id, CID: l.CID, Fuel: l.Fuel, CPU: l.CPU,
			Hash: bytes.Repeat([]byte{byte(k)}, 32), Prior: PriorOf(chain)})
		if err != nil {
			tb.Fatal(err)
		}
		l.Voucher = *v
		chain = ChainOn(l, chain)
	}
	return chain
}

func TestVerifyChain(t *testing.T) {
	id := TaskID{Job: aJob, Index: 3}
	for n := range MaxChain + 3 {
		chain := aChain(t, id, n)
		if err := VerifyChain(id, chain); err != nil || len(chain) != min(n, MaxChain) || CutShort(chain) != (n > MaxChain) {
			t.Errorf("%d states: %d of them, cut short %v: %v", n, len(chain), CutShort(chain), err)
		}
	}
	for name, lie := range map[string]func([]Link) []Link{
		"cut short":          func(c []Link) []Link { return c[:len(c)-1] },
		"begun later":        func(c []Link) []Link { return c[1:] }, // of another result: see below
		"one left out":       func(c []Link) []Link { return append(c[:1:1], c[2:]...) },
		"the other way":      func(c []Link) []Link { return []Link{c[1], c[0], c[2]} },
		"other work":         func(c []Link) []Link { c[1].Fuel--; return c },
		"another's word":     func(c []Link) []Link { c[1].Voucher = c[2].Voucher; return c },
		"as if from nothing": func(c []Link) []Link { c[0].Voucher.Prior = nil; return c[:1] },
		"too many":           func(c []Link) []Link { return append(c, c...) },
	} {
		chain := lie(aChain(t, id, 3))
		if err := VerifyChain(id, chain); (err == nil) != (name == "begun later") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if VerifyChain(TaskID{Job: aJob, Index: 4}, aChain(t, id, 1)) == nil {
		t.Error("a chain of another task is believed")
	}
}

// A result says in what was signed which states its run went on from: no other can be put there.
func TestResultWithChain(t *testing.T) {
	id := TaskID{Job: aJob, Index: 3}
	r := Result{Task: id, Outcome: Completed, Trail: &Trail{Pass: 1, Fuel: 100, Began: aChain(t, id, 3)}}
	if err := r.Sign(testKey(9)); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(); err != nil {
		t.Fatal(err)
	}
	for name, began := range map[string][]Link{
		"none": nil, "fewer": r.Trail.Began[1:], "another's": aChain(t, id, 2),
	} {
		other := r
		trail := *r.Trail
		other.Trail, trail.Began = &trail, began
		if other.Verify() == nil {
			t.Errorf("%s: it verifies", name)
		}
	}
	for name, began := range map[string][]Link{
		"too many": append(aChain(t, id, MaxChain), aChain(t, id, 1)...), "cut short": aChain(t, id, 2)[:1],
		"another task's": aChain(t, TaskID{Job: aJob}, 1), "begun beyond its end": {{Fuel: 101}},
	} {
		other := Result{Task: id, Outcome: Completed, Trail: &Trail{Pass: 1, Fuel: 100, Began: began}}
		if err := other.Sign(testKey(9)); err == nil && other.Verify() == nil {
			t.Errorf("%s: it verifies", name)
		}
	}
}

// Of a task of which it matters who answers all states are shown that a chain may have, of others the last few.
func TestShown(t *testing.T) {
	chain := make([]Link, MaxChain)
	for name, tt := range map[string]struct {
		job  *Job
		want int
	}{
		"no job":       {nil, MaxLinks - 1},
		"one run":      {&Job{Replicas: 1}, MaxLinks - 1},
		"several":      {&Job{Replicas: 2}, MaxChain - 1},
		"one, checked": {&Job{Replicas: 1, Verify: &Verify{Audits: 1}}, MaxChain - 1},
	} {
		if got := tt.job.Shown(chain); len(got) != tt.want {
			t.Errorf("%s: %d are shown, want %d", name, len(got), tt.want)
		}
	}
}
