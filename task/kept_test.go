package task

import (
	"crypto/sha256"
	"strings"
	"testing"
)

// TestDecodeKept changes states that are right in one thing each: only what is whole is read.
func TestDecodeKept(t *testing.T) {
	hash := func(b byte) []byte { h := sha256.Sum256([]byte{b}); return h[:] }
	for name, tt := range map[string]struct {
		change func(k *KeptStates)
		err    string // "" where they are read
	}{
		"as they are":     {func(*KeptStates) {}, ""},
		"none":            {func(k *KeptStates) { k.States = nil }, ""},
		"a short hash":    {func(k *KeptStates) { k.States[1].Hash = k.States[1].Hash[1:] }, "a state's hash of 31 bytes"},
		"a long hash":     {func(k *KeptStates) { k.States[0].Hash = append(hash(1), 0) }, "a state's hash of 33 bytes"},
		"no hash":         {func(k *KeptStates) { k.States[0].Hash = nil }, "a state's hash of 0 bytes"},
		"a CID of none":   {func(k *KeptStates) { k.States[0].CID = "bafy" }, "whose CID is none"},
		"the same fuel":   {func(k *KeptStates) { k.States[1].Fuel = k.States[0].Fuel }, "not in order"},
		"less fuel later": {func(k *KeptStates) { k.States[1].Fuel = 1 }, "not in order"},
		"too many": {func(k *KeptStates) {
			for i := range uint64(MaxBoundaries) {
				k.States = append(k.States, KeptState{Fuel: 100 + i, Hash: hash(byte(i))})
			}
		}, "reading kept states"},
		"too long": {func(k *KeptStates) { k.States[0].Hash = make([]byte, maxKept) }, "the most is 8192"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &KeptStates{States: []KeptState{{Fuel: 10, Hash: hash(1)}, {Fuel: 20, Hash: hash(2)}}}
			tt.change(k)
			b, err := Encode(k)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeKept(b)
			switch {
			case tt.err != "":
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("err %v, want %q", err, tt.err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				of := got.Boundaries()
				if len(of) != len(k.States) {
					t.Fatalf("%d boundaries of %d states", len(of), len(k.States))
				}
				for i, b := range of {
					if b.Fuel != k.States[i].Fuel || string(b.State[:]) != string(k.States[i].Hash) {
						t.Errorf("boundary %d is %v, not that of %v", i, b, k.States[i])
					}
				}
			}
		})
	}
	if _, err := DecodeKept([]byte("no CBOR")); err == nil {
		t.Error("bytes that are no CBOR were read")
	}
}

// TestIntervalFuel has intervals begin where the one before ends, from the task's begin to its end.
func TestIntervalFuel(t *testing.T) {
	trail, of := &Trail{Fuel: 35}, []Boundary{{Fuel: 11}, {Fuel: 20}}
	for k, want := range [][2]uint64{{0, 11}, {11, 20}, {20, 35}} {
		if from, to := trail.IntervalFuel(of, k); from != want[0] || to != want[1] {
			t.Errorf("interval %d is %d to %d, want %v", k, from, to, want)
		}
	}
}

// TestSpacingAt doubles a spacing as little as it has to.
func TestSpacingAt(t *testing.T) {
	const most = MaxBoundaries
	for _, tt := range []struct{ fuel, want uint64 }{
		{0, 10}, {10 * most, 10}, {10*most + 9, 10}, {10*most + 10, 20}, {20*most + 19, 20}, {20*most + 20, 40},
	} {
		if got := SpacingAt(10, tt.fuel); got != tt.want {
			t.Errorf("at fuel %d the spacing is %d, want %d", tt.fuel, got, tt.want)
		}
	}
}
