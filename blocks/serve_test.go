package blocks

import (
	"bufio"
	"bytes"
	"errors"
	"testing"

	"godwit/internal/roundtrip"
	"godwit/p2p/wire"

	"github.com/ipfs/go-cid"
	"pgregory.net/rapid"
)

func reader(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

func TestWantsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var buf bytes.Buffer
		w := bufio.NewWriter(&buf)
		var wants []cid.Cid
		for _, data := range rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 0, 20).Draw(t, "wants") {
			wants = append(wants, cidOf(cid.DagCBOR, data))
		}
		if err := writeWants(w, wants); err != nil {
			t.Fatal(err)
		}
		r := reader(buf.Bytes())
		back, err := readWants(r, nil)
		if err != nil || len(back) != len(wants) {
			t.Fatalf("%d wants came back as %d, %v", len(wants), len(back), err)
		}
		for i := range wants {
			if back[i] != wants[i] {
				t.Fatalf("want %d is %s, was %s", i, back[i], wants[i])
			}
		}
	})
}

func FuzzWants(f *testing.F) {
	c := cidOf(cid.Raw, nil)
	f.Add(append([]byte{byte(c.ByteLen())}, c.Bytes()...))
	f.Fuzz(func(t *testing.T, b []byte) {
		read := func(b []byte) ([]cid.Cid, error) { return readWants(reader(b), nil) }
		wants, err := read(b)
		for _, c := range wants {
			if err != nil || !acceptable(c) {
				t.Fatalf("want %s, %v", c, err)
			}
		}
		if err == nil {
			roundtrip.Check(t, wants, func(wants []cid.Cid) ([]byte, error) {
				var out bytes.Buffer
				err := writeWants(bufio.NewWriter(&out), wants)
				return out.Bytes(), err
			}, read)
		}
	})
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte{blockHere, 2, 1, 2})
	f.Add([]byte{blockMissing})
	f.Fuzz(func(t *testing.T, b []byte) {
		type answer struct {
			data []byte
			have bool
		}
		read := func(b []byte) (a answer, err error) {
			a.data, a.have, err = readBlock(reader(b), nil, nil)
			return a, err
		}
		a, err := read(b)
		if err != nil {
			return
		}
		if len(a.data) > wire.MaxBlock || !a.have && a.data != nil {
			t.Fatalf("%d bytes, %v", len(a.data), a.have)
		}
		roundtrip.Check(t, a, func(a answer) ([]byte, error) {
			var out bytes.Buffer
			w := bufio.NewWriter(&out)
			err := errors.Join(sendBlock(w, a.data, a.have), w.Flush())
			return out.Bytes(), err
		}, read)
	})
}
