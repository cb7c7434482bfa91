package wasm

import (
	"bytes"
	"testing"
)

// A module loses its custom sections, wherever they are, and nothing else.
func TestWithoutCustoms(t *testing.T) {
	m := specimen()
	m.Customs = nil
	plain := Encode(m)
	custom := []byte("\x00\x06\x04namex")
	between := len(header) + 2 + int(plain[len(header)+1]) // behind the first section
	for name, b := range map[string][]byte{
		"none":       plain,
		"first":      join(header, custom, plain[len(header):]),
		"between":    join(plain[:between], custom, custom, plain[between:]),
		"last":       join(plain, custom),
		"everywhere": join(header, custom, plain[len(header):between], custom, plain[between:], custom),
	} {
		got, err := WithoutCustoms(b)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: got %x, %v, want %x", name, got, err, plain)
		}
	}
	for name, b := range map[string][]byte{
		"no module":         []byte("\x00asm\x02\x00\x00\x00"),
		"beyond the module": join(plain, []byte("\x00\x7f\x04name")),
		"no size":           join(plain, []byte{0}),
	} {
		if got, err := WithoutCustoms(b); err == nil {
			t.Errorf("%s: got %x, want an error", name, got)
		}
	}
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
