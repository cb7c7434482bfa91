package signed

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"

	"godwit/task"
)

func key(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func peerOf(k ed25519.PrivateKey) task.PeerID { return task.PeerIDOf(k.Public().(ed25519.PublicKey)) }

// lines are what Take reads of a text that Append wrote.
func lines(b []byte) (out []string) {
	for l := range strings.Lines(string(b)) {
		out = append(out, strings.TrimPrefix(strings.TrimSuffix(l, "\n"), word))
	}
	return out
}

func takeAll(rests []string) (all []Signature, err error) {
	for _, r := range rests {
		if all, err = Take(all, r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// A key that signs again stands once, and what was written is read.
func TestSignAndRead(t *testing.T) {
	var all []Signature
	var err error
	for _, n := range []byte{5, 1, 3, 1} {
		if all, err = Add(all, key(n), []byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) != 3 || !slices.IsSortedFunc(all, compare) {
		t.Fatalf("%d signatures, in order: %v", len(all), slices.IsSortedFunc(all, compare))
	}
	read, err := takeAll(lines(Append(nil, all)))
	if err != nil || !slices.EqualFunc(read, all, func(a, b Signature) bool {
		return a.Key == b.Key && bytes.Equal(a.Signature, b.Signature)
	}) {
		t.Errorf("read %v, %v", read, err)
	}
}

func TestTooManySign(t *testing.T) {
	var all []Signature
	var err error
	for n := range byte(MaxSignatures) {
		if all, err = Add(all, key(n), []byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Add(all, key(100), []byte("text")); err == nil || len(got) != MaxSignatures {
		t.Errorf("one more signed: %d, %v", len(got), err)
	}
	if _, err := Add(all, key(0), []byte("text")); err != nil {
		t.Errorf("who had signed could not sign again: %v", err)
	}
	if _, err := Add(nil, key(0)[:10], nil); err == nil {
		t.Error("a part of a key signed")
	}
}

func TestTakeRefuses(t *testing.T) {
	var all []Signature
	for n := range byte(MaxSignatures + 1) { // one too many, as no Add makes them
		one, err := Add(nil, key(n), []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one...)
	}
	slices.SortFunc(all, compare)
	good := lines(Append(nil, all))
	name, sig, _ := strings.Cut(good[0], " ")
	if _, err := takeAll(good[:MaxSignatures]); err != nil {
		t.Fatal(err)
	}
	for what, rests := range map[string][]string{
		"nothing":             {""},
		"no signature":        {name},
		"a short one":         {name + " " + sig[:40]},
		"what is no base64":   {name + " " + strings.Repeat("*", len(sig))},
		"trailing bits":       {name + " " + sig + "="},
		"no key":              {"nobody " + sig},
		"a key twice":         {good[0], good[0]},
		"keys in wrong order": {good[1], good[0]},
		"one too many":        good,
	} {
		if _, err := takeAll(rests); err == nil {
			t.Errorf("%s was taken", what)
		}
	}
}
