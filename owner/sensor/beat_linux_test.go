package sensor

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBeats: all that polls is due at multiples of its time, so that those of one time, and of its
// multiples, are due together; none is due sooner than a fourth of it, nor later than after one and a
// fourth.
func TestBeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]time.Duration{inputPoll, loadEvery, scanEvery, diskEvery}).Draw(t, "each")
		now := time.Unix(0, rapid.Int64Range(0, 1<<62).Draw(t, "now"))
		wait := untilBeat(now, d)
		if at := now.Add(wait); !at.Truncate(d).Equal(at) {
			t.Errorf("due at %v, which is no beat of %v", at, d)
		}
		if wait < d/4 || wait >= d+d/4 {
			t.Errorf("due in %v of %v", wait, d)
		}
	})
}
