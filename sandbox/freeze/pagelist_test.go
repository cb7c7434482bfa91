package freeze

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzPageList: the encoding is that of the library for the same pages, and
// whatever is decoded encodes to the same bytes.
func FuzzPageList(f *testing.F) {
	for _, n := range []int{0, 1, 23, 24, 255, 256, 300} {
		var l PageList
		for i := range n {
			l = append(l, Page{Number: uint32(i * i * 11), Hash: Hash{byte(i), 1}})
		}
		got, err := encMode.Marshal(l)
		want, err2 := encMode.Marshal([]Page(l))
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			f.Fatalf("%d pages: %x, %v, want %x, %v", n, got, err, want, err2)
		}
		f.Add(got)
		f.Add(slices.Concat(got, []byte{0}))
		f.Add(got[:len(got)-1])
	}
	f.Add([]byte{cborArray | cborByte, 0})
	f.Add([]byte{cborArray | cborLong, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		var l PageList
		if decMode.Unmarshal(b, &l) != nil {
			return
		}
		if got, err := encMode.Marshal(l); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%x decodes, and encodes to %x, %v", b, got, err)
		}
	})
}
