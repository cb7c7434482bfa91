package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"godwit/internal/roundtrip"
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
		if _, err := ReadFrame(reader(tt.in), 8, nil); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// A peer that announces much and sends little costs little.
func TestReadNAllocates(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := readN(bytes.NewReader(make([]byte, 10)), nil, 1<<30, nil); err == nil {
		t.Fatal("read a GiB of 10 bytes")
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4*readStep {
		t.Errorf("%d bytes allocated", got)
	}
}

// What fits into spare memory is read there, and what does not, or is cut, is not said to be whole.
func TestReadFrameInto(t *testing.T) {
	spare := make([]byte, 1, 4)
	for in, want := range map[string]error{
		"\x02ab": nil, "\x04abcd": nil, "\x05abcde": nil, "\x04abc": io.ErrUnexpectedEOF, "\x09": ErrTooLarge,
	} {
		got, err := ReadFrameInto(reader([]byte(in)), spare, 8, nil)
		if !errors.Is(err, want) || err == nil && string(got) != in[1:] {
			t.Errorf("%q: %q, %v, want %v", in, got, err, want)
		}
		if fits := len(in) <= 1+cap(spare); err == nil && (&got[0] == &spare[:1][0]) != fits {
			t.Errorf("%q: in spare memory is not %v", in, fits)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte{3, 1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		read := func(b []byte) ([]byte, error) { return ReadFrame(reader(b), 1<<10, nil) }
		frame, err := read(b)
		if err != nil {
			return
		}
		if len(frame) > 1<<10 {
			t.Fatal("frame over its limit")
		}
		roundtrip.Check(t, frame, func(frame []byte) ([]byte, error) {
			var out bytes.Buffer
			w := bufio.NewWriter(&out)
			err := errors.Join(WriteFrame(w, frame), w.Flush())
			return out.Bytes(), err
		}, read)
	})
}
