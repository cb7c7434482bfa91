package node

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/node/exec"
)

// A saveLog keeps for what, and when, a node chose checkpoints.
type saveLog struct {
	slog.Handler
	mu     sync.Mutex
	chosen []string
}

// Handle implements slog.Handler.
func (l *saveLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "the next checkpoint" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "reason" {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.chosen = append(l.chosen, a.Value.String())
			}
			return true
		})
	}
	return nil
}

func (l *saveLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *saveLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *saveLog) WithGroup(string) slog.Handler            { return l }

// The checkpoints of a task that runs are chosen for what it has left, as the leader
// says: less each time, down to the tenth that may always be left.
func TestSavesForTheWorkLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &saveLog{}
		s := newSwarm(t, 1)
		s.peers[0].cfg.Log, s.peers[0].other = slog.New(log), &exec.Sleeper{}
		s.peers[0].start()
		id := s.peers[0].submit(1, time.Hour)
		<-time.After(time.Hour)
		s.peers[0].finish(id, 1)
		log.mu.Lock()
		defer log.mu.Unlock()
		if len(log.chosen) < 2 {
			t.Fatalf("chosen %q", log.chosen)
		}
		last := 2 * time.Hour
		for _, why := range log.chosen {
			_, text, _ := strings.Cut(why, "a task with about ")
			text, _, _ = strings.Cut(text, " left")
			left, err := time.ParseDuration(text)
			if err != nil || left > last || last == 2*time.Hour && left != time.Hour-time.Second {
				t.Errorf("%q after %v: %v", why, last, err)
			}
			last = left
		}
		if last > 10*time.Minute {
			t.Errorf("%v are left in the end", last)
		}
	})
}
