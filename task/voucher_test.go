package task

import (
	"bytes"
	"crypto/ed25519"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A voucher holds as it is encoded and read again, for what it was given for and for nothing
// else: by its worker's key alone, with the receipt of a lease of that worker.
func TestVoucher(t *testing.T) {
	leader, worker, other := testKey(1), testKey(2), testKey(3)
	of := func(k ed25519.PrivateKey) PeerID { return PeerIDOf(k.Public().(ed25519.PublicKey)) }
	rapid.Check(t, func(t *rapid.T) {
		s := State{Task: TaskID{Job: aJob, Index: rapid.Uint64().Draw(t, "task")}, CID: RawCID([]byte("state")),
			Bad: rapid.Bool().Draw(t, "bad")}
		if !s.Bad {
			s.Fuel = rapid.Uint64Min(1).Draw(t, "fuel")
			s.CPU = time.Duration(rapid.Int64Min(0).Draw(t, "cpu"))
			s.Hash = make([]byte, 32)
			if rapid.Bool().Draw(t, "says how") {
				s.Engine, s.Pass = rapid.SampledFrom([]string{"", "amd64", EngineInterpreter}).Draw(t, "engine"), 7
			}
			if rapid.Bool().Draw(t, "went on") {
				s.Prior = bytes.Repeat([]byte{7}, 32)
			}
		}
		receipt, err := NewReceipt(leader, of(leader), s.Task, of(worker), Receipt{
			Epoch: rapid.Uint64Min(1).Draw(t, "epoch"), Seq: rapid.Uint64().Draw(t, "attempt"),
			Issued: rapid.Int64Min(0).Draw(t, "issued"), Since: rapid.Int64Min(0).Draw(t, "since"), From: s.CID,
		})
		if err != nil {
			t.Fatal(err)
		}
		v, err := Vouch(worker, receipt, s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		var got Voucher
		if err := Decode(b, &got); err != nil {
			t.Fatal(err)
		}
		if err := got.Verify(s); err != nil {
			t.Fatal(err)
		}
		lies := map[string]func(v *Voucher, s *State){
			"task":       func(_ *Voucher, s *State) { s.Task.Index++ },
			"job":        func(_ *Voucher, s *State) { s.Task.Job = JobID(RawCID(nil)) },
			"state":      func(v *Voucher, s *State) { s.CID, v.Receipt.From = RawCID(nil), RawCID(nil) },
			"compiler":   func(v *Voucher, _ *State) { v.Engine += "x" },
			"version":    func(v *Voucher, _ *State) { v.Pass++ },
			"how":        func(v *Voucher, _ *State) { v.Engine, v.Pass = "arm64", v.Pass^7 },
			"time":       func(_ *Voucher, s *State) { s.CPU++ },
			"other word": func(_ *Voucher, s *State) { s.Bad, s.Fuel, s.CPU = !s.Bad, 1, 0 },
			"its good word is called bad": func(_ *Voucher, s *State) {
				if s.Bad = !s.Bad; s.Bad {
					s.Fuel, s.CPU = 0, 0
				}
			},
			"work":    func(_ *Voucher, s *State) { s.Fuel = s.Fuel/2 + math.MaxUint64/4 },
			"worker":  func(v *Voucher, _ *State) { v.Worker = of(other) },
			"nobody":  func(v *Voucher, _ *State) { v.Worker = "nobody" },
			"hash":    func(v *Voucher, _ *State) { v.Hash = bytes.Repeat([]byte{1}, 32) },
			"no hash": func(v *Voucher, s *State) { v.Hash = nil; s.Bad = false },
			"prior":   func(v *Voucher, _ *State) { v.Prior = bytes.Repeat([]byte{1}, 32) },
			"no prior": func(v *Voucher, s *State) {
				if v.Prior = nil; s.Prior == nil {
					v.Prior = make([]byte, 32)
				}
			},
			"receipt":     func(v *Voucher, _ *State) { v.Receipt.Seq++ },
			"no receipt":  func(v *Voucher, _ *State) { v.Receipt = Receipt{} },
			"signature":   func(v *Voucher, _ *State) { v.Signature = v.Signature[1:] },
			"no work":     func(_ *Voucher, s *State) { s.Fuel = 0; s.Bad = false },
			"less than 0": func(_ *Voucher, s *State) { s.CPU = -1 },
		}
		for name, lie := range lies {
			v, s := got, s
			if lie(&v, &s); v.Verify(s) == nil {
				t.Errorf("%s: it holds for %+v", name, s)
			}
		}
		taken, err := Vouch(other, receipt, s) // with another's receipt
		if err != nil || taken.Verify(s) == nil {
			t.Errorf("who takes another's receipt is believed: %v", err)
		}
	})
}

// Nobody vouches for what can be no state, or calls one bad that he was not to go on from.
func TestVouchesForNothing(t *testing.T) {
	id := TaskID{Job: aJob}
	good := State{Task: id, CID: RawCID(nil), Fuel: 1, Hash: make([]byte, 32)}
	for name, s := range map[string]State{
		"no work": {Task: id, CID: good.CID}, "no hash": {Task: id, CID: good.CID, Fuel: 1},
		"no time": {Task: id, CID: good.CID, Fuel: 1, CPU: -1, Hash: good.Hash},
		"bad":     {Task: id, CID: good.CID, Bad: true}, "bad, of no name": {Task: id, Bad: true},
		"no state":                  {Task: id, CID: "state", Fuel: 1, Hash: good.Hash},
		"a compiler of no version":  {Task: id, CID: good.CID, Fuel: 1, Hash: good.Hash, Engine: "amd64"},
		"a compiler of no name":     {Task: id, CID: good.CID, Fuel: 1, Hash: good.Hash, Engine: "A M D", Pass: 1},
		"a bad state that was made": {Task: id, CID: good.CID, Bad: true, Pass: 1},
		"half a prior":              {Task: id, CID: good.CID, Fuel: 1, Hash: good.Hash, Prior: good.Hash[1:]},
	} {
		if _, err := Vouch(testKey(1), &Receipt{}, s); err == nil {
			t.Errorf("%s: it is signed", name)
		}
	}
	if _, err := Vouch(testKey(1), &Receipt{}, good); err != nil {
		t.Error(err)
	}
}

// Work that no machine does in the time since the first lease is not believed.
func TestPlausible(t *testing.T) {
	at := time.UnixMilli(10_000_000)
	for name, tt := range map[string]struct {
		receipt Receipt
		fuel    uint64
		want    bool
	}{
		"a usual machine for a second":    {Receipt{Issued: at.UnixMilli() - 1000}, 10_000_000_000, true},
		"all that there is":               {Receipt{Issued: at.UnixMilli() - 1000}, math.MaxUint64, false},
		"all that a century has":          {Receipt{Issued: at.UnixMilli() - 1000}, 1 << 62, false},
		"an hour in a second":             {Receipt{Issued: at.UnixMilli() - 1000}, 3600 * 10_000_000_000, false},
		"an hour by way of other leases":  {Receipt{Issued: 9_999_000, Since: 6_400_000}, 3600 * 10_000_000_000, true},
		"begun after it was given":        {Receipt{Issued: 9_999_000, Since: math.MaxInt64}, 10_000_000_000, true},
		"a leader whose clock is ahead":   {Receipt{Issued: at.UnixMilli() + 30_000}, 1_000_000, true},
		"a lease of another day":          {Receipt{Issued: at.UnixMilli() + 86_400_000}, 1, false},
		"as long as there is a time":      {Receipt{}, 1_000_000_000, true},
		"a lease of the end of all times": {Receipt{Issued: math.MaxInt64}, 1, false},
	} {
		if got := tt.receipt.Plausible(tt.fuel, at); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
