package task

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"
	"pgregory.net/rapid"
)

// codecByLibrary is what codecOf does, by the library's CIDs.
func codecByLibrary(s string) (codec uint64, ok bool) {
	if len(s) != cidTextLen {
		return 0, false
	}
	c, err := cid.Decode(s)
	if err != nil || c.String() != s {
		return 0, false
	}
	p := c.Prefix()
	return p.Codec, p.Version == 1 && p.MhType == multihash.SHA2_256 && p.MhLength == 32 &&
		(p.Codec == cid.Raw || p.Codec == cid.DagProtobuf || p.Codec == cid.DagCBOR)
}

// What is a CID here is what the library reads as one of ours, whichever letters or bytes a hostile
// peer changes.
func TestCodecOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte{1, rapid.SampledFrom([]byte{cid.Raw, cid.DagProtobuf, cid.DagCBOR, cid.GitRaw, 0x80}).Draw(t, "codec"),
			multihash.SHA2_256, 32}
		b = append(b, rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash")...)
		if rapid.Bool().Draw(t, "change a byte") {
			b[rapid.IntRange(0, 5).Draw(t, "at")] = rapid.Byte().Draw(t, "to")
		}
		s := []byte("b" + cidBase32.EncodeToString(b))
		if rapid.Bool().Draw(t, "change a letter") {
			i := rapid.OneOf(rapid.IntRange(0, cidTextLen-1), rapid.Just(cidTextLen-1)).Draw(t, "letter")
			s[i] = rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte(base32Letters+"\n\rA1="))).Draw(t, "becomes")
		}
		want, ok := codecByLibrary(string(s))
		got, err := codecOf(string(s))
		if (err == nil) != ok || ok && got != want {
			t.Fatalf("%q: codec 0x%x, %v, by the library 0x%x, %v", s, got, err, want, ok)
		}
	})
}

func TestSumCID(t *testing.T) {
	for _, codec := range []uint64{cid.Raw, cid.DagProtobuf, cid.DagCBOR} {
		for _, b := range [][]byte{nil, {1}, bytes.Repeat([]byte("x"), 1000)} {
			hash, err := multihash.Sum(b, multihash.SHA2_256, -1)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := sumCID(codec, b), cid.NewCidV1(codec, hash).String(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

// Checking a name takes no memory: every result has some.
func TestCodecOfAllocates(t *testing.T) {
	id := strings.Clone(aJob)
	if n := testing.AllocsPerRun(100, func() { _, _ = codecOf(id) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
