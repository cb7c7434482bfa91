package task

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"godwit/internal/roundtrip"
)

// TestTimeBytes: a time has the bytes that the plain type of the standard library has
// with the options of Encode.
func TestTimeBytes(t *testing.T) {
	for _, at := range []time.Time{
		{},
		time.Unix(0, 0),
		time.Date(2026, 11, 23, 3, 7, 47, 0, time.FixedZone("", 5400)),
		time.Date(2026, 11, 23, 3, 7, 47, 120, time.UTC),
		time.Date(2026, 11, 23, 3, 7, 47, 123456789, time.Local),
		time.Date(LastYear, 12, 31, 23, 59, 59, 999999999, time.UTC),
	} {
		want, err := encMode.Marshal(struct{ At time.Time }{at})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Encode(struct{ At Time }{At(at)})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: bytes %x, want %x (%v)", at, got, want, err)
		}
		var back struct{ At Time }
		if err := Decode(got, &back); err != nil || back.At != At(at) || !back.At.Equal(at) {
			t.Errorf("%v came back as %v (%v)", at, back.At, err)
		}
	}
}

// TestTimeHasOneForm: a time decodes from nothing but what it encodes to.
func TestTimeHasOneForm(t *testing.T) {
	text := func(s string) []byte {
		b, err := cbor.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	number := func(v any) []byte {
		b, err := cbor.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, b := range map[string][]byte{
		"a number of seconds":   number(1_000_000_000),
		"the least number":      number(int64(-1 << 63)),
		"a fraction":            number(1e9 + .5),
		"bytes":                 number([]byte("2026-11-23T03:07:47Z")),
		"undefined":             {0xf7},
		"true":                  {0xf5},
		"an empty list":         {0x80},
		"another zone":          text("2026-11-23T03:07:47+01:00"),
		"an offset of nothing":  text("2026-11-23T03:07:47+00:00"),
		"zeros at the end":      text("2026-11-23T03:07:47.100Z"),
		"a comma":               text("2026-11-23T03:07:47,1Z"),
		"small letters":         text("2026-11-23t03:07:47z"),
		"ten digits":            text("2026-11-23T03:07:47.1234567891Z"),
		"the year before":       text("1969-12-31T23:59:59Z"),
		"the year 9999":         text("9999-01-01T00:00:00Z"),
		"five digits of a year": text("10000-01-01T00:00:00Z"),
		"the zero time":         text("0001-01-01T00:00:00Z"),
		"no such day":           text("2026-02-30T00:00:00Z"),
		"nothing":               text(""),
		"a long head":           append([]byte{0x79, 0, 20}, "2026-11-23T03:07:47Z"...),
		"a head a byte long":    append([]byte{0x78, 20}, "2026-11-23T03:07:47Z"...),
	} {
		at := Time{time.Unix(1, 0).UTC()}
		if err := Decode(b, &at); err == nil {
			t.Errorf("%s, %s, was read as %v", name, hex.EncodeToString(b), at)
		}
	}
	if err := Decode(text("2026-11-23T03:07:47Z"), new(Time)); err != nil {
		t.Error(err)
	}
}

// TestTimeOfABrokenClock: what a clock shows that is years off is brought to what can be
// told, and a time that was not made by At does not encode.
func TestTimeOfABrokenClock(t *testing.T) {
	for _, at := range []time.Time{
		time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(-1<<62, 0), time.Unix(1<<62, 0), time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		b, err := Encode(At(at))
		var back Time
		if err == nil {
			err = Decode(b, &back)
		}
		if err != nil || back != At(at) || back.Year() != FirstYear && back.Year() != LastYear {
			t.Errorf("%v came back as %v (%v)", at, back, err)
		}
		if b, err := Encode(Time{at}); err == nil {
			t.Errorf("%v encodes to %x", at, b)
		}
	}
	for _, at := range []time.Time{time.Now(), time.Now().Round(0).In(time.FixedZone("", 60))} {
		if _, err := Encode(Time{at}); err == nil {
			t.Errorf("%v, which At did not make, encodes", at)
		}
	}
}

// FuzzTime: what decodes encodes to the same bytes.
func FuzzTime(f *testing.F) {
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Date(2026, 1, 2, 3, 4, 5, 60, time.UTC)} {
		b, err := Encode(At(at))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		var at Time
		if Decode(b, &at) != nil {
			return
		}
		roundtrip.Same(t, b, at, func(at Time) ([]byte, error) { return Encode(at) },
			func(b []byte) (at Time, err error) { return at, Decode(b, &at) })
	})
}
