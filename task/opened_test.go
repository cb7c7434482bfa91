package task

import (
	"errors"
	"testing"
)

// TestOpened: a record that was opened before opens again, and one of the same job with another
// signature, key or content does not.
func TestOpened(t *testing.T) {
	var o Opened
	rec := opened(t)
	first, err := o.Open(rec)
	if err != nil {
		t.Fatal(err)
	}
	again, err := o.Open(rec)
	if err != nil || again != first {
		t.Fatalf("again: %v, %v; want the same", again, err)
	}
	for name, change := range map[string]func(*Record){
		"signature": func(r *Record) { r.Signature[3] ^= 1 },
		"key":       func(r *Record) { r.PublicKey[3] ^= 1 },
		"job":       func(r *Record) { r.Job[len(r.Job)-1] ^= 1 },
	} {
		other := opened(t)
		change(other)
		for range 2 {
			if _, err := o.Open(other); !errors.Is(err, ErrSignature) {
				t.Errorf("another %s: %v", name, err)
			}
		}
	}
	if len(o.signed) != 1 {
		t.Errorf("remembers %d, want the one that is right", len(o.signed))
	}
	for i := range 2 * maxOpened {
		o.remember([32]byte{byte(i), byte(i >> 8), byte(i >> 16), 1}, &recorded{})
	}
	if len(o.signed) != maxOpened || len(o.order) != maxOpened {
		t.Errorf("remembers %d in %d places, want %d", len(o.signed), len(o.order), maxOpened)
	}
}

// TestOpenedIsBounded: few records are kept read, by their bytes, and few names found by what they name.
func TestOpenedIsBounded(t *testing.T) {
	var o Opened
	for i := range 3 {
		j := testJob()
		j.Nonce[0] ^= byte(i)
		r, err := SignJob(j, testKey(1))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := o.Open(&r); err != nil {
				t.Fatal(err)
			}
		}
		if len(o.read) != i+1 || o.bytes <= 0 {
			t.Fatalf("%d are kept read, of %d bytes; want %d", len(o.read), o.bytes, i+1)
		}
	}
	o.keepRead(&recorded{}, testJob(), maxRead+1)
	if len(o.read) != 3 {
		t.Error("a job above the bound is kept read")
	}
	large := &recorded{}
	o.keepRead(large, testJob(), maxRead)
	if len(o.read) != 1 || o.read[0] != large || o.bytes != maxRead {
		t.Errorf("%d are kept read, of %d bytes", len(o.read), o.bytes)
	}
	r := opened(t)
	name := o.nameOf(r)
	r.Job[0] ^= 1 // in the memory of the one that was named
	if o.nameOf(r) == name {
		t.Error("a record that was changed has its name of before")
	}
}

func opened(t *testing.T) *Record {
	t.Helper()
	r, err := SignJob(testJob(), testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

// TestOpenedNames: a record that is remembered is named as it names itself, and so is one that is not; what was signed
// here opens without a look at its signature, and a copy of it that was changed does not.
func TestOpenedNames(t *testing.T) {
	var o Opened
	mine, err := o.Sign(testJob(), testKey(2))
	if err != nil || len(o.signed) != 1 {
		t.Fatalf("%v; remembers %d", err, len(o.signed))
	}
	changed := mine
	changed.Job = append([]byte{}, mine.Job...)
	changed.Job[len(changed.Job)-1] ^= 1
	for name, r := range map[string]*Record{"signed here": &mine, "another's": opened(t), "changed": &changed} {
		for _, from := range []*Opened{&o, nil} {
			if id, peer := from.Names(r); id != r.ID() || peer != r.Submitter() || from.Submitter(r) != peer {
				t.Errorf("%s: %s of %s, want %s of %s", name, id, peer, r.ID(), r.Submitter())
			}
		}
	}
	if _, err := o.Open(&mine); err != nil {
		t.Error(err)
	}
	if _, err := o.Open(&changed); !errors.Is(err, ErrSignature) {
		t.Errorf("changed: %v", err)
	}
}
