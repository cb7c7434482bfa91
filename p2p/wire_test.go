package p2p

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"godwit/overlay"

	"github.com/ipfs/go-cid"
	"pgregory.net/rapid"
)

func reader(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

func TestFrameLimits(t *testing.T) {
	tests := []struct {
		name string
		in   []byte
		want error
	}{
		{"nothing", nil, io.EOF},
		{"empty frame", []byte{0}, nil},
		{"half a length", []byte{0x80}, io.ErrUnexpectedEOF},
		{"no body", []byte{3}, io.ErrUnexpectedEOF},
		{"half a body", []byte{3, 1}, io.ErrUnexpectedEOF},
		{"at the limit", []byte{8, 1, 2, 3, 4, 5, 6, 7, 8}, nil},
		{"over the limit", []byte{9, 1, 2, 3, 4, 5, 6, 7, 8, 9}, ErrTooLarge},
		{"far over", bytes.Repeat([]byte{0xff}, 8), io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		if _, err := readFrame(reader(tt.in), 8, nil); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// A peer that announces much and sends little costs little.
func TestReadNAllocates(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := readN(bytes.NewReader(make([]byte, 10)), 1<<30, nil); err == nil {
		t.Fatal("read a GiB of 10 bytes")
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4*readStep {
		t.Errorf("%d bytes allocated", got)
	}
}

func TestWireRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var buf bytes.Buffer
		w := bufio.NewWriter(&buf)
		q := question{
			method: rapid.StringN(1, 16, MaxMethod).Draw(t, "method"),
			time:   time.Duration(rapid.IntRange(1, 300_000).Draw(t, "ms")) * time.Millisecond,
			body:   rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "body"),
		}
		if err := writeQuestion(w, q); err != nil {
			t.Fatal(err)
		}
		var wants []cid.Cid
		for _, data := range rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 0, 20).Draw(t, "wants") {
			wants = append(wants, cidOf(cid.DagCBOR, data))
		}
		if err := writeWants(w, wants); err != nil {
			t.Fatal(err)
		}
		r := reader(buf.Bytes())
		got, err := readQuestion(r, nil)
		if err != nil || got.method != q.method || got.time != q.time || !bytes.Equal(got.body, q.body) {
			t.Fatalf("question came back as %+v, %v", got, err)
		}
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

func FuzzFrame(f *testing.F) {
	f.Add([]byte{3, 1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		if frame, err := readFrame(reader(b), 1<<10, nil); err == nil && len(frame) > 1<<10 {
			t.Fatal("frame over its limit")
		}
	})
}

func FuzzQuestion(f *testing.F) {
	f.Add([]byte{1, 'm', 100, 2, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := readQuestion(reader(b), nil)
		if err == nil && (q.time < 0 || q.time > MaxRequestTime || len(q.method) > MaxMethod) {
			t.Fatalf("question over its limits: %+v", q)
		}
	})
}

func FuzzWants(f *testing.F) {
	c := cidOf(cid.Raw, nil)
	f.Add(append([]byte{byte(c.ByteLen())}, c.Bytes()...))
	f.Fuzz(func(t *testing.T, b []byte) {
		wants, err := readWants(reader(b), nil)
		for _, c := range wants {
			if err != nil || !acceptable(c) {
				t.Fatalf("want %s, %v", c, err)
			}
		}
	})
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte{blockHere, 2, 1, 2})
	f.Add([]byte{blockMissing})
	f.Fuzz(func(t *testing.T, b []byte) {
		if data, have, err := readBlock(reader(b), nil); err == nil && (len(data) > MaxBlock || !have && data != nil) {
			t.Fatalf("%d bytes, %v", len(data), have)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte{answerOK, 2, 1, 2})
	f.Add([]byte{answerErr, 2, 'n', 0x1b})
	f.Fuzz(func(t *testing.T, b []byte) {
		body, err := readAnswer(reader(b), "m", "p", nil)
		var refused *RemoteError
		if len(body) > MaxRequest || errors.As(err, &refused) && (len(refused.Text) > 3*maxErrText || strings.ContainsRune(refused.Text, 0x1b)) {
			t.Fatalf("%d bytes, %v", len(body), err)
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add([]byte{2, 1, 2, 0, 1, 7})
	f.Add(make([]byte, maxHello+1))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		err := readHello(reader(b), func(b []byte) error {
			if n++; len(b) > overlay.MaxAdvertBytes {
				t.Fatalf("an advert of %d bytes", len(b))
			}
			return nil
		})
		if n > maxHello {
			t.Fatalf("%d adverts, %v", n, err)
		}
	})
}

// However a stream of gossip is cut into pieces, the same messages pass.
func FuzzGossipLengths(f *testing.F) {
	f.Add([]byte{2, 1, 2, 0, 1, 7}, uint8(1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff}, uint8(2))
	f.Add([]byte{0x80, 0x80, 0x80, 0x00}, uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		var whole, cut lengths
		want := whole.pass(b)
		var got error
		for rest := b; len(rest) > 0 && got == nil; {
			n := min(int(step)+1, len(rest))
			got = cut.pass(rest[:n])
			rest = rest[n:]
		}
		if (got == nil) != (want == nil) || want == nil && got == nil && cut != whole {
			t.Fatalf("whole: %v, cut by %d: %v", want, step+1, got)
		}
		r := reader(b) // the library's way of reading the same
		for want == nil {
			if _, err := readFrame(r, maxGossip, nil); errors.Is(err, ErrTooLarge) {
				t.Fatal("a message over the limit passed")
			} else if err != nil {
				break
			}
		}
	})
}
