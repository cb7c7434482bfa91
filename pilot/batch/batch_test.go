package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"godwit/pilot"
)

// A queue simulates a batch system that starts placeholders immediately.
type queue struct {
	nodes    int
	places   map[string]string
	number   int
	polls    int
	err      error // of reading the queue
	rejected error // of submissions
	stays    bool  // placeholders do not end
	slow     time.Duration
}

func (q *queue) Snapshot(context.Context) (*pilot.Snapshot, error) {
	if q.polls++; q.err != nil {
		return nil, q.err
	}
	s := &pilot.Snapshot{}
	for id, node := range q.places {
		s.Places = append(s.Places, pilot.Place{ID: id, Node: node, Phase: pilot.Running})
	}
	for i := range q.nodes - len(q.places) {
		s.Nodes = append(s.Nodes, pilot.Node{Name: fmt.Sprint("free", i), Usable: true})
	}
	return s, nil
}

func (q *queue) Submit(context.Context) (string, error) {
	if q.rejected != nil {
		return "", q.rejected
	}
	<-time.After(q.slow)
	q.number++
	id := fmt.Sprint(q.number)
	q.places[id] = "n" + id
	return id, nil
}

func (q *queue) End(_ context.Context, _ pilot.Yield, ids []string) error {
	for _, id := range ids {
		if !q.stays {
			delete(q.places, id)
		}
	}
	return nil
}

// run runs a pilot for some time and returns its error.
func run(t *testing.T, q *queue, d time.Duration) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		cfg := pilot.Default()
		cfg.Most = 3
		err = Run(ctx, q, pilot.New(cfg), 2*time.Second, slog.New(slog.DiscardHandler))
	})
	return err
}

func TestRunFillsNodesAndEndsPlaceholders(t *testing.T) {
	q := &queue{nodes: 5, places: map[string]string{"old": "n0"}} // of a pilot that crashed
	if err := run(t, q, 21*time.Second); err != nil {
		t.Error(err)
	}
	if q.number != 2 || len(q.places) != 0 || q.polls < 11 {
		t.Errorf("%d submitted, %d left, %d polls", q.number, len(q.places), q.polls)
	}
}

func TestRunReportsPlaceholdersThatStay(t *testing.T) {
	q := &queue{nodes: 5, places: map[string]string{}, stays: true}
	if err := run(t, q, 5*time.Second); err == nil {
		t.Error("placeholders stay in the queue: no error")
	}
}

func TestRunFailsWithoutBatchSystem(t *testing.T) {
	broken := errors.New("broken")
	q := &queue{err: broken}
	if err := run(t, q, time.Hour); !errors.Is(err, broken) || q.polls != firstFailures {
		t.Errorf("%v after %d polls, want %v", err, q.polls, broken)
	}
}

func TestRunContinuesAfterRejection(t *testing.T) {
	q := &queue{nodes: 5, places: map[string]string{}, rejected: errors.New("no account")}
	if err := run(t, q, time.Minute); err != nil || q.polls < 30 {
		t.Errorf("%v after %d polls", err, q.polls)
	}
}

// Submissions that take long are spread over several polls.
func TestRunPollsBetweenSlowSubmissions(t *testing.T) {
	q := &queue{nodes: 5, places: map[string]string{}, slow: 1500 * time.Millisecond}
	if err := run(t, q, 5*time.Second); err != nil || q.number != 3 || q.polls < 4 {
		t.Errorf("%v, %d submitted, %d polls", err, q.number, q.polls)
	}
}

func TestCommandReportsStandardError(t *testing.T) {
	_, err := command(t.Context(), "", "go", "nonsense-verb")
	if err == nil || err.Error() == "" {
		t.Errorf("a command that fails: %v", err)
	}
	if out, err := command(t.Context(), "", "go", "env", "GOOS"); err != nil || len(out) == 0 {
		t.Errorf("%q, %v", out, err)
	}
}
