package task

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"pgregory.net/rapid"
)

// someResults are results of a worker, of tasks of two jobs, no two the same.
func someResults(n int) []*Result {
	other := JobID(sumCID(0x71, []byte("another job")))
	out := make([]*Result, n)
	for i := range out {
		out[i] = testResult()
		if out[i].Task.Index = uint64(i); i%3 == 2 {
			out[i].Task.Job = other
		}
	}
	return out
}

func signTogether(t interface{ Fatal(...any) }, key ed25519.PrivateKey, results []*Result) {
	self := PeerIDOf(key.Public().(ed25519.PublicKey))
	if err := SignTogether(results, self, func(b []byte) []byte { return ed25519.Sign(key, b) }); err != nil {
		t.Fatal(err)
	}
}

// sent is a result as whoever gets it reads it.
func sent(t interface{ Fatal(...any) }, r *Result) *Result {
	b, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	back := new(Result)
	if err := Decode(b, back); err != nil {
		t.Fatal(err)
	}
	return back
}

// However many results are signed together, each holds for itself, and with what another of them was signed by,
// or changed in any way, it does not: nor does a way that is too long, or of another batch.
func TestSignTogether(t *testing.T) {
	key := testKey(1)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2*treeSize+3).Draw(t, "results")
		results, others := someResults(n), someResults(n)
		for _, r := range others {
			r.Wall++
		}
		signTogether(t, key, results)
		signTogether(t, key, others)
		marks, signatures := map[string]bool{}, map[string]bool{}
		var checked Checked
		for i, r := range results {
			got := sent(t, r)
			if err := got.Verify(); err != nil || len(got.Path) > treeDepth*int(resultTree) {
				t.Fatalf("result %d of %d, with a way of %d bytes: %v", i, n, len(got.Path), err)
			}
			if err := checked.Result(got); err != nil {
				t.Fatalf("result %d of %d, of which some were looked at: %v", i, n, err)
			}
			marks[string(got.Mark())], signatures[string(got.Signature)] = true, true
		}
		if want := (n + treeSize - 1) / treeSize; len(marks) != n || len(signatures) != want {
			t.Errorf("%d results have %d marks and %d signatures, want %d", n, len(marks), len(signatures), want)
		}
		one, other := rapid.IntRange(0, n-1).Draw(t, "one"), rapid.IntRange(0, n-1).Draw(t, "other")
		lie := sent(t, results[one])
		switch rapid.IntRange(0, 7).Draw(t, "lie") {
		case 0: // another place: of as many or more levels
			lie.At ^= 1 << rapid.IntRange(0, 63).Draw(t, "bit")
		case 1: // a level more
			lie.Path = append(bytes.Clone(lie.Path), make([]byte, resultTree)...)
		case 2: // more levels than a tree has
			lie.Path = bytes.Repeat([]byte{1}, (treeDepth+1)*int(resultTree))
		case 3: // a level less, down to none
			if lie.Path = lie.Path[:max(0, len(lie.Path)-int(resultTree))]; len(results[one].Path) == 0 {
				lie.Path = []byte{1}
			}
		case 4: // half a node
			lie.Path = append(bytes.Clone(lie.Path), 1)
		case 5: // the way, or the signature, of another batch
			if lie.Path = others[one].Path; len(lie.Path) == 0 || rapid.Bool().Draw(t, "signature") {
				lie.Signature = others[one].Signature
			}
		case 6: // another's place, way and signature, of this batch or not
			if from := results[other]; one != other {
				lie.Signature, lie.Path, lie.At = from.Signature, from.Path, from.At
			} else {
				lie.Worker = PeerIDOf(testKey(2).Public().(ed25519.PublicKey))
			}
		case 7: // another result, of the other job too
			lie.Task = results[(one+1)%n].Task
			lie.CPU++
		}
		if lie.Verify() == nil || checked.Result(lie) == nil {
			t.Errorf("result %d of %d holds, changed to %+v", one, n, lie)
		}
	})
}

// A worker that has one result in a batch twice says the same twice, and nothing else: in either place it is that
// result, and a place tells it from the other as another signature would.
func TestToldTwice(t *testing.T) {
	results := someResults(4)
	results[3] = sent(t, results[0])
	signTogether(t, testKey(1), results)
	for i, r := range results {
		if err := r.Verify(); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
	if a, b := results[0], results[3]; a.Digest() != b.Digest() || bytes.Equal(a.Mark(), b.Mark()) {
		t.Error("two places of one result are not two marks of it")
	}
}

// What one signature says under one domain, or of a node, it says under no other and of no result.
func TestSignedAsSomethingElse(t *testing.T) {
	key := testKey(1)
	results := someResults(2)
	signTogether(t, key, results)
	body, err := results[0].body()
	if err != nil {
		t.Fatal(err)
	}
	leaf := resultTree.leaf(body)
	root := resultTree.root(leaf, results[0].Path, results[0].At)
	for name, as := range map[string]func(r *Result){
		"the root as of one result": func(r *Result) { r.Signature = sign(key, resultDomain, root) },
		"the root as of receipts":   func(r *Result) { r.Signature = sign(key, receiptDomain, root) },
		"one alone as of a batch":   func(r *Result) { r.Signature = sign(key, resultDomain, body) },
		"one alone under the domain of a batch": func(r *Result) {
			r.Path, r.At, r.Signature = nil, 0, sign(key, togetherDomain, body)
		},
		"the leaf under the domain of a batch, alone": func(r *Result) {
			r.Path, r.At, r.Signature = nil, 0, sign(key, togetherDomain, leaf[:resultTree])
		},
		"by another": func(r *Result) { r.Signature = sign(testKey(2), togetherDomain, root) },
	} {
		lie := sent(t, results[0])
		as(lie)
		if lie.Verify() == nil || new(Checked).Result(lie) == nil {
			t.Errorf("%s: it holds", name)
		}
	}
}

// One result that cannot be signed has none of them signed.
func TestNoneIsSigned(t *testing.T) {
	results := someResults(3)
	results[1].Outcome = OutcomeUnknown
	self := PeerIDOf(testKey(1).Public().(ed25519.PublicKey))
	err := SignTogether(results, self, func([]byte) []byte { panic("it is signed") })
	if err == nil || results[0].Signature != nil {
		t.Error("results that are none were signed")
	}
}

// Of receipts and results that are signed together each signature is looked at once, and what is remembered of
// it is bounded.
func TestChecked(t *testing.T) {
	key := testKey(1)
	self := PeerIDOf(key.Public().(ed25519.PublicKey))
	var checked Checked
	for range 3 {
		results := someResults(2)
		signTogether(t, key, results)
		given := make([]Leased, 2)
		for i := range given {
			given[i] = Leased{results[i].Task, self, &Receipt{Leader: self, Epoch: 1}}
		}
		if err := SignReceipts(key, given); err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if err := checked.Receipt(given[i].Receipt, r.Task, self); err != nil {
				t.Fatal(err)
			}
			if checked.Receipt(given[i].Receipt, r.Task, "somebody else") == nil {
				t.Fatal("another's receipt holds")
			}
			if err := checked.Result(r); err != nil {
				t.Fatal(err)
			}
		}
		if checked.good.Len() != 2 {
			t.Fatalf("of two signatures, again and again, %d are remembered", checked.good.Len())
		}
	}
	for i := range uint64(MostGood + 2) {
		given := []Leased{{TaskID{aJob, i}, self, &Receipt{Leader: self, Epoch: 1}}, {TaskID{aJob, i}, self,
			&Receipt{Leader: self, Epoch: 2}}}
		if err := SignReceipts(key, given); err != nil {
			t.Fatal(err)
		}
		if err := checked.Receipt(given[0].Receipt, given[0].Task, self); err != nil {
			t.Fatal(err)
		}
	}
	if checked.good.Len() > MostGood {
		t.Errorf("%d signatures are remembered", checked.good.Len())
	}
}

func BenchmarkSignTogether(b *testing.B) {
	key := testKey(1)
	results := someResults(treeSize)
	for b.Loop() {
		signTogether(b, key, results)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*treeSize), "ns/result")
}
