package task

import (
	"crypto/ed25519"
	"testing"

	"pgregory.net/rapid"
)

// A receipt holds for its task, its worker and what it says, by its leader's key alone.
func TestReceipt(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	leader := PeerIDOf(key.Public().(ed25519.PublicKey))
	other := PeerIDOf(ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), 1)).Public().(ed25519.PublicKey))
	id := TaskID{Job: JobID(RawCID([]byte("job"))), Index: 3}
	good, err := NewReceipt(key, leader, id, other, Receipt{Epoch: 1 << 24, Seq: 7, Issued: 1000, From: RawCID(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if err := good.Verify(id, other); err != nil {
		t.Fatal(err)
	}
	if good.Verify(TaskID{Job: id.Job, Index: 4}, other) == nil || good.Verify(id, leader) == nil {
		t.Error("it holds for another task, or for another worker")
	}
	for name, change := range map[string]func(*Receipt){
		"leader": func(r *Receipt) { r.Leader = other }, "nobody": func(r *Receipt) { r.Leader = "nobody" },
		"epoch": func(r *Receipt) { r.Epoch++ }, "attempt": func(r *Receipt) { r.Seq++ },
		"time": func(r *Receipt) { r.Issued++ }, "before time": func(r *Receipt) { r.Issued = -1 },
		"beginning": func(r *Receipt) { r.Since++ }, "before all time": func(r *Receipt) { r.Since = -1 },
		"state": func(r *Receipt) { r.From = "" }, "no state": func(r *Receipt) { r.From = "x" },
		"signature": func(r *Receipt) { r.Signature = r.Signature[1:] },
		"way":       func(r *Receipt) { r.Path = make([]byte, int(receiptTree)) },
		"place":     func(r *Receipt) { r.At = 1 },
	} {
		r := *good
		if change(&r); r.Verify(id, other) == nil {
			t.Errorf("%s: a changed receipt holds", name)
		}
	}
}

// A result carries its receipt whole, under its worker's signature: neither can be changed, nor
// the receipt be taken away or another's put in.
func TestResultCarriesItsReceipt(t *testing.T) {
	seed := func(n byte) ed25519.PrivateKey {
		return ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), n))
	}
	leader, worker := seed(1), seed(2)
	of := func(k ed25519.PrivateKey) PeerID { return PeerIDOf(k.Public().(ed25519.PublicKey)) }
	rapid.Check(t, func(t *rapid.T) {
		id := TaskID{Job: aJob, Index: rapid.Uint64().Draw(t, "task")}
		receipt, err := NewReceipt(leader, of(leader), id, of(worker), Receipt{
			Epoch: rapid.Uint64Min(1).Draw(t, "epoch"), Seq: rapid.Uint64().Draw(t, "attempt"),
			Issued: rapid.Int64Min(0).Draw(t, "issued"),
			From:   rapid.SampledFrom([]CID{"", RawCID([]byte("state"))}).Draw(t, "from"),
		})
		if err != nil {
			t.Fatal(err)
		}
		res := Result{Task: id, Outcome: Interrupted, Receipt: receipt}
		if err := res.Sign(worker); err != nil {
			t.Fatal(err)
		}
		b, err := Encode(&res)
		if err != nil {
			t.Fatal(err)
		}
		var got Result
		if err := Decode(b, &got); err != nil {
			t.Fatal(err)
		}
		if got.Verify() != nil || got.Receipt.Verify(got.Task, got.Worker) != nil {
			t.Fatal("what was encoded does not verify")
		}
		without, other := got, got
		without.Receipt = nil
		later := *got.Receipt
		later.Seq++
		other.Receipt = &later
		if without.Verify() == nil || other.Verify() == nil {
			t.Error("a result verifies without its receipt, or with another")
		}
	})
}
