package task

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Times come back equal to the last digit, in UTC; the zero time stays zero.
func TestEncodeTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type value struct {
			At time.Time `cbor:"1,keyasint"`
		}
		at := time.Unix(rapid.Int64Range(-1e10, 2.5e11).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).
			In(time.FixedZone("", rapid.IntRange(-12, 14).Draw(t, "zone")*3600))
		for _, want := range []time.Time{at, {}} {
			b, err := Encode(value{want})
			if err != nil {
				t.Fatal(err)
			}
			var got value
			if err := Decode(b, &got); err != nil {
				t.Fatal(err)
			}
			if got.At != want.UTC() {
				t.Fatalf("%v became %v", want, got.At)
			}
		}
	})
}

// Equal values give equal bytes: map order does not show.
func TestEncodeIsDeterministic(t *testing.T) {
	b, err := Encode(map[string]int{"bb": 1, "a": 2, "c": 3})
	if got, want := hex.EncodeToString(b), "a361610261630362626201"; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		hex  string
		into any
	}{
		"nothing":           {"", new(int)},
		"trailing bytes":    {"0101", new(int)},
		"cut off":           {"8201", new([]int)},
		"repeated key":      {"a201010102", new(map[int]int)},
		"repeated field":    {"a20161610161" + "62", new(EnvVar)},
		"indefinite array":  {"9f01ff", new([]int)},
		"indefinite string": {"7f6161ff", new(string)},
		"tag":               {"c074323032302d30312d30315430303a30303a30305a", new(time.Time)},
		"not UTF-8":         {"61ff", new(string)},
		"NaN":               {"f97e00", new(float64)},
		"infinity":          {"f97c00", new(float64)},
		"deep":              {strings.Repeat("81", maxNesting+1) + "01", new(any)},
		"huge array":        {"9b00000000ffffffff", new([]int)},
		"huge string":       {"7b7fffffffffffffff", new(string)},
		"huge map":          {"ba7fffffff", new(map[int]int)},
	} {
		b, _ := hex.DecodeString(test.hex)
		if err := Decode(b, test.into); err == nil {
			t.Errorf("%s: got %v", name, reflect.ValueOf(test.into).Elem())
		}
	}
	if err := Decode(make([]byte, MaxEncoded+1), new([]byte)); err == nil {
		t.Error("too many bytes were read")
	}
}
