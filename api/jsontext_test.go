package api

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// Text that package json would change is refused, and no other.
func TestJSONTextIsNotChanged(t *testing.T) {
	for text, good := range map[string]bool{
		`"plain"`: true, `"ä😀"`: true, `"\u00e4"`: true, `"\ud83d\ude00"`: true, `"\\ud800"`: true, `"\""`: true,
		`"` + "\xef\xbf\xbd" + `"`: true,
		`"b` + "\xff" + `c"`:       false,
		`"\udcff"`:                 false,
		`"\ud83d"`:                 false,
		`"\ud83d x"`:               false,
		`"\ud83d\u0041"`:           false,
		`"\\\udcff"`:               false,
	} {
		if err := checkJSONText([]byte(text)); (err == nil) != good {
			t.Errorf("%q: got %v, want good: %v", text, err, good)
		}
	}
	_ = checkJSONText([]byte(`"\`))
}

// FuzzJSONText checks that text which passes is encoded again as it was decoded.
func FuzzJSONText(f *testing.F) {
	for _, s := range []string{`"\ud83d\ude00"`, `"\udcff"`, "\"b\xffc\"", `"\\u"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s string
		if checkJSONText(b) != nil || json.Unmarshal(b, &s) != nil {
			return
		}
		for i, r := range s { // U+FFFD may be there, but then the text contains it
			if r == utf8.RuneError && !containsReplacement(b) {
				t.Fatalf("%q became %q at %d", b, s, i)
			}
		}
	})
}

// containsReplacement reports whether JSON text contains U+FFFD, as it is or escaped.
func containsReplacement(b []byte) bool {
	return bytes.Contains(b, []byte("\ufffd")) || bytes.Contains(bytes.ToLower(b), []byte(`\ufffd`))
}
