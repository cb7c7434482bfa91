package scenario

import (
	"testing"
	"time"
)

// A past is whole days, and is written as it is read.
func TestParsePast(t *testing.T) {
	for text, want := range map[string]time.Duration{"10d": 10 * day, "31d": MaxPast, "0": 0, "0d": 0} {
		got, err := ParsePast(text)
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
		if again, err := ParsePast(PastText(got)); got != 0 && (err != nil || again != got) {
			t.Errorf("%s is written as %s", text, PastText(got))
		}
	}
	for _, text := range []string{"", "d", "10h", "-1d", "32d", "1.5d"} {
		if got, err := ParsePast(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}
