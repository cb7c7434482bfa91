package node

import (
	"testing"
	"testing/synctest"
	"time"

	"godwit/ending"
	"godwit/task"
)

// A forecast is as good as new for a part of the time to the end, seconds to a minute, is told for some time more while
// another is made, and is gone with the state that the job was in.
func TestHowLongAForecastIsGood(t *testing.T) {
	made := time.Date(2030, 1, 9, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		low  time.Duration // to the end
		past time.Duration
		want age
	}{
		{10 * time.Second, 4 * time.Second, fresh}, {10 * time.Second, 6 * time.Second, old},
		{10 * time.Second, 26 * time.Second, gone},
		{20 * time.Minute, 19 * time.Second, fresh}, {20 * time.Minute, 21 * time.Second, old},
		{90 * 24 * time.Hour, 59 * time.Second, fresh}, {90 * 24 * time.Hour, 4 * time.Minute, old},
		{90 * 24 * time.Hour, 6 * time.Minute, gone},
		{0, 4 * time.Second, fresh}, {0, 26 * time.Second, gone}, // it has none
	} {
		f := foretold{seen: map[task.JobID]JobEnd{}}
		f.made(JobEnd{Job: "j", State: "running", At: made, Forecast: ending.Forecast{Low: c.low.Seconds()}})
		if _, got := f.at("j", "running", made.Add(c.past)); got != c.want {
			t.Errorf("of an end in %v, after %v: %d, want %d", c.low, c.past, got, c.want)
		}
		if _, got := f.at("j", "cancelled", made); got != gone {
			t.Errorf("of a job that was cancelled since: %d", got)
		}
	}
}

// TestForecastRenewed: who asks for the end of a job of hours is told what was foretold, with the tasks that are left
// by now, while another forecast is made for who asks next; of a job that was cancelled nothing of that is told.
func TestForecastRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 2)
		asks := s.peers[1]
		id := asks.submit(8000, 20*time.Second)
		s.until("a task has ended", func() bool {
			st, err := asks.Job(t.Context(), id, 0, 0)
			return err == nil && st.Tasks.Done > 0
		})
		look := func() JobEnd {
			t.Helper()
			e, err := asks.End(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // in which another is made, if one is
			return e
		}
		first := look()
		if first.Low < 5*time.Hour.Seconds() {
			t.Fatalf("8000 tasks of 20 seconds on four slots end as %+v", first)
		}
		time.Sleep(2 * time.Minute)
		if e := look(); !e.At.Equal(first.At) {
			t.Error("who asks after two minutes waits for another forecast")
		}
		if e := look(); !e.At.After(first.At) {
			t.Error("who asks next is told the old one still")
		}
		if err := asks.Cancel(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
		s.until("it is cancelled", func() bool { return look().State == "cancelled" })
		if e := look(); e.Median != 0 || e.Low != 0 {
			t.Errorf("of a job that was cancelled: %+v", e)
		}
	})
}
