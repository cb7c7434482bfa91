package overlay

import (
	"testing"
	"time"

	"godwit/predictor"
	"godwit/trace"
)

// TestForeseen: a record that is kept read says what it says read anew, at other times, after another record and
// after the pool was renewed.
func TestForeseen(t *testing.T) {
	pool, start := &predictor.Pool{}, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	rec := predictor.NewRecorder(pool)
	rec.Observe(start, trace.Available)
	rec.Observe(start.Add(30*time.Hour), trace.Unavailable)
	rec.Observe(start.Add(31*time.Hour), trace.Available)
	var f Foreseen
	pooled := start
	for hour := range 48 {
		now := start.Add(32*time.Hour + time.Duration(hour)*time.Hour)
		rec.Tick(now)
		r := rec.Record()
		a := &Advert{}
		a.Record, _ = r.MarshalBinary()
		if hour == 20 {
			pool.Renew([]predictor.Record{r, r, r})
			pooled = now
		}
		for _, later := range []time.Duration{0, time.Minute} {
			if got, want := f.Of(a, pool, pooled, now.Add(later)), ForecastOf(a, pool, now.Add(later)); got != want {
				t.Fatalf("after %d h: %+v, want %+v", hour, got, want)
			}
		}
	}
	var none Advert
	if got, want := f.Of(&none, pool, pooled, start), ForecastOf(&none, pool, start); got != want {
		t.Errorf("of no record: %+v, want %+v", got, want)
	}
}
