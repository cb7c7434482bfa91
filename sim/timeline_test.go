package sim

import (
	"math"
	"testing"
	"time"
)

// A time in milliseconds is as far from the start as the same time is, also where the start
// is between two milliseconds, long ago, or too far away to count.
func TestSinceMillis(t *testing.T) {
	for _, start := range []time.Time{time.UnixMilli(0), time.Unix(1e9, 123_456_789), time.Unix(-1e9, 999_999),
		time.Unix(-1, 1)} {
		l := timeline{start: start, millis: start.UnixMilli()}
		l.rest = int64(start.Sub(time.UnixMilli(l.millis)))
		for _, d := range []int64{-1e12, -1, 0, 1, 2, 999, 86_400_000, 1e13, math.MaxInt64 / 500_000} {
			at := l.millis + d
			if got, want := l.sinceMillis(at), l.since(time.UnixMilli(at)); got != want {
				t.Errorf("%d ms since %v: %d ns, want %d", at, start, got, want)
			}
		}
	}
}
