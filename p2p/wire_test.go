package p2p

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/overlay"
	"godwit/p2p/wire"

	"pgregory.net/rapid"
)

func reader(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

func TestQuestionRoundTrip(t *testing.T) {
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
		r := reader(buf.Bytes())
		got, err := readQuestion(r, MaxRequest, nil)
		if err != nil || got.method != q.method || got.time != q.time || !bytes.Equal(got.body, q.body) {
			t.Fatalf("question came back as %+v, %v", got, err)
		}
	})
}

func FuzzQuestion(f *testing.F) {
	f.Add([]byte{1, 'm', 100, 2, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := readQuestion(reader(b), MaxRequest, nil)
		if err == nil && (q.time < 0 || q.time > MaxRequestTime || len(q.method) > MaxMethod) {
			t.Fatalf("question over its limits: %+v", q)
		}
		if err != nil {
			return
		}
		again := roundtrip.Check(t, q, func(q question) ([]byte, error) {
			var out bytes.Buffer
			err := writeQuestion(bufio.NewWriter(&out), q)
			return out.Bytes(), err
		}, func(b []byte) (question, error) { return readQuestion(reader(b), MaxRequest, nil) })
		if again.method != q.method || again.time != max(q.time, time.Millisecond) || !bytes.Equal(again.body, q.body) {
			t.Fatalf("%+v came back as %+v", q, again)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte{answerOK, 2, 1, 2})
	f.Add([]byte{answerErr, 2, 'n', 0x1b})
	f.Fuzz(func(t *testing.T, b []byte) {
		body, err := readAnswer(reader(b), "m", "p", nil)
		var refused *RemoteError
		if len(body) > MaxRequest || errors.As(err, &refused) &&
			(len(refused.Text) > 3*maxErrText || strings.ContainsRune(refused.Text, 0x1b)) {
			t.Fatalf("%d bytes, %v", len(body), err)
		}
		if err != nil && refused == nil {
			return
		}
		type answer struct {
			body    []byte
			refused *RemoteError
		}
		roundtrip.Check(t, answer{body, refused}, func(a answer) ([]byte, error) {
			var out bytes.Buffer
			refusal := error(nil)
			if a.refused != nil {
				refusal = errors.New(a.refused.Text)
			}
			err := writeAnswer(&out, a.body, refusal)
			return out.Bytes(), err
		}, func(b []byte) (a answer, err error) {
			a.body, err = readAnswer(reader(b), "m", "p", nil)
			if errors.As(err, &a.refused) {
				err = nil
			}
			return a, err
		})
	})
}

func FuzzHello(f *testing.F) {
	f.Add([]byte{2, 1, 2, 0, 1, 7})
	f.Add(make([]byte, maxHello+1))
	f.Fuzz(func(t *testing.T, b []byte) {
		adverts := func(b []byte) (all [][]byte, err error) {
			err = readHello(reader(b), func(b []byte) error {
				if all = append(all, b); len(b) > overlay.MaxAdvertBytes {
					t.Fatalf("an advert of %d bytes", len(b))
				}
				return nil
			})
			return all, err
		}
		all, err := adverts(b)
		if len(all) > maxHello {
			t.Fatalf("%d adverts, %v", len(all), err)
		}
		if err == nil {
			roundtrip.Check(t, all, func(all [][]byte) ([]byte, error) {
				var out bytes.Buffer
				err := writeHello(&out, all)
				return out.Bytes(), err
			}, adverts)
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
			if _, err := wire.ReadFrame(r, maxGossip, nil); errors.Is(err, wire.ErrTooLarge) {
				t.Fatal("a message over the limit passed")
			} else if err != nil {
				break
			}
		}
	})
}
