package message_test

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
	"pgregory.net/rapid"
)

func TestLag(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		begun *message.Begun
		heard time.Duration // after the lease was given
		want  time.Duration
	}{
		"nothing told":                {nil, 100 * ms, 0},
		"half of the ways":            {&message.Begun{Queued: 20 * ms, Ago: 70 * ms}, 100 * ms, 25 * ms},
		"said again":                  {&message.Begun{Queued: 20 * ms, Ago: 970 * ms}, 1000 * ms, 25 * ms},
		"no way at all":               {&message.Begun{Ago: 100 * ms}, 100 * ms, 1},
		"queued before its lease":     {&message.Begun{Queued: 90 * ms, Ago: 70 * ms}, 100 * ms, 30 * ms},
		"ran before its lease":        {&message.Begun{Queued: 90 * ms, Ago: 700 * ms}, 100 * ms, 1},
		"as long as anything may run": {&message.Begun{Queued: task.MaxDuration, Ago: task.MaxDuration}, 100 * ms, 1},
	} {
		if got := test.begun.Lag(schedtest.Start, schedtest.Start.Add(test.heard)); got != test.want {
			t.Errorf("%s: it lags %v, want %v", name, got, test.want)
		}
	}
}

// TestLagIsWithin: whatever a worker says, its attempt began after its lease was given
// and before its end was heard; and where the ways are alike, when it did.
func TestLagIsWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := func(name string) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(task.MaxDuration)).Draw(t, name))
		}
		heard := max(1, length("heard"))
		b := &message.Begun{Queued: length("queued"), Ago: length("ago")}
		if got := b.Lag(schedtest.Start, schedtest.Start.Add(heard)); got < 1 || got > heard {
			t.Fatalf("it lags %v of %v", got, heard)
		}
		way := time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "way"))
		short := &message.Begun{Queued: b.Queued % 1e12, Ago: b.Ago % 1e12}
		if got, want := short.Lag(schedtest.Start, schedtest.Start.Add(2*way+short.Queued+short.Ago)),
			short.Queued+way; got != want {
			t.Fatalf("it lags %v, want %v", got, want)
		}
	})
}

func TestBegunIsBounded(t *testing.T) {
	for _, b := range []message.Begun{{Queued: -1}, {Ago: -1}, {Queued: task.MaxDuration + 1},
		{Ago: task.MaxDuration + 1}} {
		_, err := message.DecodeFrame(frameOf(t, &message.Report{Ended: []message.Ending{{Begun: &b}}}))
		if err == nil || !strings.Contains(err.Error(), "began") {
			t.Errorf("%+v: %v, want an error that says when it began", b, err)
		}
	}
}

func frameOf(t *testing.T, r *message.Report) []byte {
	t.Helper()
	b, err := message.EncodeFrame([]message.Message{{Report: r}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
