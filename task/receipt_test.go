package task

import (
	"crypto/ed25519"
	"testing"
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
		"state": func(r *Receipt) { r.From = "" }, "no state": func(r *Receipt) { r.From = "x" },
		"signature": func(r *Receipt) { r.Signature = r.Signature[1:] },
	} {
		r := *good
		if change(&r); r.Verify(id, other) == nil {
			t.Errorf("%s: a changed receipt holds", name)
		}
	}
}
