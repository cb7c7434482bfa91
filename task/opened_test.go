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
	if err != nil || again.Module != first.Module || again == first {
		t.Fatalf("again: %v, %v; want another copy of the same", again, err)
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
		o.remember([32]byte{byte(i), byte(i >> 8), byte(i >> 16), 1}, recorded{})
	}
	if len(o.signed) != maxOpened || len(o.order) != maxOpened {
		t.Errorf("remembers %d in %d places, want %d", len(o.signed), len(o.order), maxOpened)
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
