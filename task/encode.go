package task

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// MaxEncoded is the most bytes that Decode looks at. It leaves room for a
// frame that carries a few whole job records (see MaxRecord).
const MaxEncoded = 8 << 20

// What one encoded value may hold. The decoder counts before it allocates.
const (
	maxElements = MaxValues + 1024 // of an array: the longest is an axis's values
	maxPairs    = 4096             // of a map: our structs have under 32, our maps few keys
	maxNesting  = 24               // frame, message, task, result, output and some air
)

var encMode, decMode = modes()

// modes fixes the one encoding that everything signed, hashed or sent has:
// CBOR's core deterministic form (RFC 8949, section 4.2.1). Times are RFC 3339
// text in UTC to the nanosecond, so that they come back equal to the last
// digit; the zero time is null.
func modes() (cbor.UserBufferEncMode, cbor.DecMode) {
	eo := cbor.CoreDetEncOptions()
	eo.Time = cbor.TimeRFC3339NanoUTC
	eo.TagsMd = cbor.TagsForbidden
	enc, err := eo.UserBufferEncMode()
	if err != nil {
		panic("task: CBOR encoding options: " + err.Error())
	}
	dec, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		MaxNestedLevels:   maxNesting,
		MaxArrayElements:  maxElements,
		MaxMapPairs:       maxPairs,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		NaN:               cbor.NaNDecodeForbidden,
		Inf:               cbor.InfDecodeForbidden,
	}.DecMode()
	if err != nil {
		panic("task: CBOR decoding options: " + err.Error())
	}
	return enc, dec
}

// Encode returns the deterministic CBOR of v: equal values give equal bytes.
// Times lose their location and monotonic clock. Strings must be valid UTF-8,
// or Decode will refuse them.
func Encode(v any) ([]byte, error) {
	b, err := encMode.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", v, err)
	}
	return b, nil
}

// EncodeTo writes what Encode returns after what is in b. An error leaves b as it was.
func EncodeTo(b *bytes.Buffer, v any) error {
	n := b.Len()
	if err := encMode.MarshalToBuffer(v, b); err != nil {
		b.Truncate(n)
		return fmt.Errorf("encoding %T: %w", v, err)
	}
	return nil
}

// Decode reads into v, which points to a zero value, what Encode wrote. The
// bytes may be hostile: more than MaxEncoded of them, anything after the value,
// deep nesting, huge or indefinite lengths, repeated keys, tags, infinities and
// invalid UTF-8 are refused, and lists that are longer than the tag `most` of their field
// says. Nothing is allocated before it is known that all of it will be at most eight times
// as much as there are bytes, and 64 KiB. Map keys that v has no field for are skipped, so
// that a later version may add some. Whether the bytes are the deterministic
// form is not checked; where that matters, encode again and compare.
func Decode(b []byte, v any) error {
	const times, free = 8, 64 << 10 // a list of texts of one character takes 8 times as much
	return DecodeWithin(b, v, times, free)
}

// DecodeWithin is Decode with another bound of what it allocates: times the bytes that there
// are, and free more.
func DecodeWithin(b []byte, v any, times, free int) error {
	if len(b) > MaxEncoded {
		return fmt.Errorf("decoding %T: %d bytes, the most is %d", v, len(b), MaxEncoded)
	}
	s := survey{b: b, left: times*len(b) + free}
	if err := s.value(shapeOf(reflect.TypeOf(v).Elem()), 0); err != nil {
		return fmt.Errorf("decoding %T: %w", v, err)
	}
	if err := decMode.Unmarshal(b, v); err != nil {
		return fmt.Errorf("decoding %T: %w", v, err)
	}
	return nil
}
