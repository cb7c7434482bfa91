package node

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
)

// idleSlots is what a leader that lies says that its cell has idle.
const idleSlots = 5000

// lyingSummary is what it says.
func (p *peer) lyingSummary(s overlay.Summary) overlay.Summary {
	s.Slots, s.Idle, s.Waiting, s.Signature = idleSlots, idleSlots, 0, nil
	if err := s.Sign(p.Node.key); err != nil {
		p.s.t.Error(err)
	}
	return s
}

// withoutPlaces is what a leader that takes tasks and gives them to nobody says to others.
func withoutPlaces(msgs []message.Message) []message.Message {
	return slices.DeleteFunc(msgs, func(m message.Message) bool { return m.Place != nil })
}

// A loanLog counts, of a submitter's log, the tasks that were lent, and how often some came back.
type loanLog struct {
	mu   sync.Mutex
	lent int
	back int
	says []string // all of it, for who looks why
}

// Enabled implements slog.Handler.
func (*loanLog) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (l *loanLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l *loanLog) WithGroup(string) slog.Handler { return l }

// Handle implements slog.Handler.
func (l *loanLog) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.HasPrefix(r.Message, "task lent") || strings.HasPrefix(r.Message, "task taken") {
		text := r.Time.Format(time.TimeOnly) + " " + r.Message
		r.Attrs(func(a slog.Attr) bool {
			text += " " + a.Value.String()
			return true
		})
		l.says = append(l.says, text)
	}
	switch r.Message {
	case "task lent":
		r.Attrs(func(a slog.Attr) bool {
			n := 0
			if _, err := fmt.Sscanf(a.Value.String(), "%d tasks", &n); a.Key == "reason" && err == nil {
				l.lent += n
			}
			return true
		})
	case "task taken back":
		l.back++
	}
	return nil
}

// take returns what was counted since the last call.
func (l *loanLog) take() (lent, back int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lent, back = l.lent, l.back
	l.lent, l.back = 0, 0
	return lent, back
}

// A leader of a cell that says it has thousands of idle slots, takes what it is lent and has nobody run it,
// keeps part of a job for a quarter of an hour at most: the tasks come back, or the submitter's machine runs them before.
// It gets less of the next job.
func TestLeaderOfACellLies(t *testing.T) {
	if raceEnabled {
		t.Skip("too slow under the race detector: run without it")
	}
	synctest.Test(t, func(t *testing.T) {
		book := &loanLog{}
		s := celled(t, 10, func(p *peer) { p.cfg.Log = slog.New(book) })
		home, other := s.peers[0].status().Overlays[0].Cell, ""
		for cell := range s.cells() {
			if cell != home {
				other = cell
			}
		}
		for _, p := range s.cells()[other] {
			if p.status().Overlays[0].Role == RoleLeader {
				p.runner.stuck.Store(true)
				p.lies.Store(true)
			}
		}
		<-time.After(2 * overlay.SummaryEvery) // it has told all
		submitter := s.cells()[home][1]
		book.take()
		var had [2]int
		for k := range had {
			id := submitter.submit(200, 10*time.Second)
			begun := time.Now()
			s.within(20*time.Minute, "the job ends though a cell lies", func() bool {
				st, err := submitter.Job(t.Context(), id, 0, 0)
				return err == nil && st.Final
			})
			submitter.finish(id, 200)
			back, took := 0, time.Since(begun)
			had[k], back = book.take()
			if took > 15*time.Minute || k == 0 && back == 0 {
				t.Errorf("job %d took %v, and %d loans came back", k, took, back)
			}
		}
		if had[0] < 10 || had[1] >= had[0] {
			t.Errorf("who lies had %d tasks of the first job, %d of the next:\n%s", had[0], had[1],
				strings.Join(book.says, "\n"))
		}
	})
}
