package task

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"pgregory.net/rapid"
)

// However many receipts are signed together, each holds for its own lease, as it is encoded and
// read again, and for no other's; and changed in no way.
func TestSignReceipts(t *testing.T) {
	key := testKey(1)
	leader := PeerIDOf(key.Public().(ed25519.PublicKey))
	worker := func(n uint64) PeerID { return PeerIDOf(testKey(n).Public().(ed25519.PublicKey)) }
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3*treeSize).Draw(t, "leases")
		var leases []Leased
		for i := range uint64(n) {
			leases = append(leases, Leased{TaskID{Job: aJob, Index: i}, worker(2 + i%3),
				&Receipt{Leader: leader, Epoch: 1, Seq: i, Issued: 5}})
		}
		if err := SignReceipts(key, leases); err != nil {
			t.Fatal(err)
		}
		for i, l := range leases {
			b, err := Encode(l.Receipt)
			if err != nil {
				t.Fatal(err)
			}
			var got Receipt
			if err := Decode(b, &got); err != nil || !got.Equal(l.Receipt) {
				t.Fatalf("receipt %d is read as %+v (%v)", i, got, err)
			}
			if err := got.Verify(l.Task, l.Worker); err != nil || len(got.Path) > treeDepth*int(receiptTree) {
				t.Fatalf("receipt %d of %d, with a way of %d bytes: %v", i, n, len(got.Path), err)
			}
		}
		one := rapid.IntRange(0, n-1).Draw(t, "one")
		other := rapid.IntRange(0, n-1).Draw(t, "other")
		a, b := leases[one], leases[other]
		if one != other && a.Receipt.Verify(b.Task, b.Worker) == nil {
			t.Errorf("receipt %d holds for lease %d of %d", one, other, n)
		}
		lie := *a.Receipt
		switch rapid.IntRange(0, 4).Draw(t, "lie") {
		case 0: // another place: of as many or more levels
			lie.At ^= 1 << rapid.IntRange(0, 8).Draw(t, "bit")
		case 1: // a level more, and one less
			lie.Path = append(bytes.Clone(lie.Path), make([]byte, int(receiptTree))...)
		case 2:
			if lie.Path = lie.Path[:max(0, len(lie.Path)-int(receiptTree))]; len(a.Receipt.Path) == 0 {
				lie.Path = []byte{1}
			}
		case 3: // half a node
			lie.Path = append(bytes.Clone(lie.Path), 1)
		case 4: // another node
			lie.Path = append(bytes.Clone(lie.Path), bytes.Repeat([]byte{1}, int(receiptTree))...)
			lie.Path[0] ^= 1
		}
		if lie.Verify(a.Task, a.Worker) == nil {
			t.Errorf("receipt %d of %d holds, changed to %+v", one, n, lie)
		}
	})
}

// A node is nobody's leaf, and a receipt is no node: each is hashed under its own mark.
func TestNodesAreNoLeaves(t *testing.T) {
	r := Receipt{Leader: "l", Epoch: 1}
	leaf, err := r.leaf(TaskID{Job: aJob}, "w")
	if err != nil {
		t.Fatal(err)
	}
	var none node
	join := receiptTree.join
	if join(&leaf, &none) == join(&none, &leaf) || join(&leaf, &leaf) == leaf {
		t.Error("two nodes are one")
	}
}

func BenchmarkSignReceipts(b *testing.B) {
	key := testKey(1)
	leader := PeerIDOf(key.Public().(ed25519.PublicKey))
	for name, size := range map[string]int{"alone": 1, "together": treeSize} {
		b.Run(name, func(b *testing.B) {
			leases := make([]Leased, size)
			for i := range leases {
				leases[i] = Leased{TaskID{Job: aJob, Index: uint64(i)}, leader, &Receipt{Leader: leader, Epoch: 1}}
			}
			for range b.N {
				if err := SignReceipts(key, leases); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/receipt")
		})
	}
}
