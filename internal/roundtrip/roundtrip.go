// Package roundtrip checks what every type that goes over the wire must keep: what was
// read can be written, and is read as the same again. A node that tells another what it
// was told must neither fail nor say something else. Only tests use it.
package roundtrip

import "bytes"

// A T is a test that can fail, such as *testing.T.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Check fails the test unless v, which was read, can be written, and what is read of that is
// written as the same bytes. It returns what was read the second time.
func Check[V any](t T, v V, write func(V) ([]byte, error), read func([]byte) (V, error)) V {
	t.Helper()
	once, err := write(v)
	if err != nil {
		t.Fatalf("what was read cannot be written: %v\n%+v", err, v)
	}
	again, err := read(once)
	if err != nil {
		t.Fatalf("what was read and written cannot be read again: %v\n%x", err, once)
	}
	twice, err := write(again)
	if err != nil || !bytes.Equal(twice, once) {
		t.Fatalf("%x\nis read and written as\n%x (%v)", once, twice, err)
	}
	return again
}

// Same is Check of a form that has one way to write each value: in is what v was read of.
func Same[V any](t T, in []byte, v V, write func(V) ([]byte, error), read func([]byte) (V, error)) {
	t.Helper()
	if out, err := write(v); err != nil || !bytes.Equal(out, in) {
		t.Fatalf("%x\nis read and written as\n%x (%v)", in, out, err)
	}
	Check(t, v, write, read)
}
