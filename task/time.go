package task

import (
	"fmt"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// A Time is an instant as it travels and as it is kept: in UTC, to the nanosecond, of
// the years FirstYear to LastYear, or zero. It has one encoding, RFC 3339 text, null for
// zero, and decodes from nothing else, so that what decodes encodes again, to the same
// bytes. The zero value is the zero time. Times are comparable with ==.
type Time struct{ time.Time }

// The years that a Time may be of. The next one stays free, so that no text of another
// zone can run over the four digits that a year has.
const (
	FirstYear = 1970
	LastYear  = 9998
)

var (
	firstTime = time.Date(FirstYear, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(LastYear+1, 1, 1, 0, 0, 0, -1, time.UTC)
)

// At returns t as a Time. It loses its location and its monotonic clock. A time of a
// year that no Time is of, as a broken clock shows it, becomes the nearest that one is.
func At(t time.Time) Time {
	switch t = t.Round(0).UTC(); {
	case t.IsZero():
		return Time{}
	case t.Before(firstTime):
		return Time{firstTime}
	case t.After(lastTime):
		return Time{lastTime}
	}
	return Time{t}
}

// valid reports whether the time is one that At makes.
func (t Time) valid() bool { return t == At(t.Time) }

// maxTimeText is the longest text of a Time, in bytes: 2006-01-02T15:04:05.999999999Z.
const maxTimeText = len(time.RFC3339Nano) - len("07:00")

const (
	cborNull     = 0xf6
	cborText     = 0x60 // and, in the low five bits, a length below cborOneByte
	cborOneByte  = 24   // the length is in the byte that follows
	cborTextHead = 2    // bytes, at most, of the head of so short a text
)

// MarshalCBOR fails for a time that At did not make.
func (t Time) MarshalCBOR() ([]byte, error) {
	if t.IsZero() {
		return []byte{cborNull}, nil
	}
	if !t.valid() {
		return nil, fmt.Errorf("task: the time %v is not one in UTC, of the years %d to %d", t.Time, FirstYear, LastYear)
	}
	b := t.AppendFormat(make([]byte, cborTextHead, cborTextHead+maxTimeText), time.RFC3339Nano)
	n := len(b) - cborTextHead
	if n < cborOneByte {
		b[1] = cborText | byte(n)
		return b[1:], nil
	}
	b[0], b[1] = cborText|cborOneByte, byte(n)
	return b, nil
}

// UnmarshalCBOR reads what MarshalCBOR writes, and nothing else.
func (t *Time) UnmarshalCBOR(b []byte) error {
	if len(b) == 1 && b[0] == cborNull {
		*t = Time{}
		return nil
	}
	text := b
	switch {
	case len(b) > cborTextHead && b[0] == cborText|cborOneByte && b[1] >= cborOneByte && int(b[1]) == len(b)-cborTextHead:
		text = b[cborTextHead:]
	case len(b) > 0 && b[0]&^0x1f == cborText && b[0] < cborText|cborOneByte && int(b[0]&0x1f) == len(b)-1:
		text = b[1:]
	default:
		return &cbor.UnmarshalTypeError{CBORType: "value", GoType: "task.Time"}
	}
	if len(text) > maxTimeText {
		return fmt.Errorf("task: a time of %d bytes, the most is %d", len(text), maxTimeText)
	}
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("task: a time: %w", err)
	}
	read := Time{at.UTC()}
	if !read.valid() || read.IsZero() || read.Format(time.RFC3339Nano) != string(text) {
		return fmt.Errorf("task: %s is not a time in UTC, of the years %d to %d, in its shortest form", quote(string(text)),
			FirstYear, LastYear)
	}
	*t = read
	return nil
}
