package node

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"godwit/member"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// words is a log that a test reads.
type words struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *words) count(s string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.b.String(), s)
}

// broken is an overlay whose machines panic at whatever they are told.
const broken overlay.ID = "broken"

// breakOne gives a node an overlay that has no machines at all.
func (l *lone) breakOne(t *testing.T) {
	t.Helper()
	if err := l.do(t.Context(), func() { l.members[broken] = &membership{id: broken} }); err != nil {
		t.Fatal(err)
	}
}

// TestPanicAtAFrame: a machine that panics at a frame ends this life of the node, with what
// was promised; the next one goes on from there, and does not take that frame again.
func TestPanicAtAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frames, err := message.PackFrames([]message.Message{{Ack: &message.Ack{Epoch: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		frame := address(broken, frames[0])
		d := newDisk()
		log := &words{}
		l := startLone(t, d, false)
		l.log = slog.New(slog.NewTextHandler(log, nil))
		l.breakOne(t)
		var stranger task.PeerID = "stranger"
		epoch := l.net.epoch()
		l.net.handler.Frame(stranger, frame)
		if err := <-l.ended; !errors.Is(err, ErrPanic) {
			t.Fatalf("the node ended with %v", err)
		}
		if got := log.count("level=ERROR"); got != 1 || log.count("poison_test.go")+log.count("member") == 0 {
			t.Errorf("said %d times:\n%s", got, log.b.String())
		}
		if !slices.Equal(l.net.blamed, []task.PeerID{stranger}) {
			t.Errorf("blamed %v", l.net.blamed)
		}
		l.stop()

		again := startLone(t, d, false)
		defer func() {
			if err := again.end(); err != nil {
				t.Errorf("the node that took no such frame ended with %v", err)
			}
		}()
		again.breakOne(t)
		again.net.handler.Frame(stranger, frame)
		synctest.Wait()
		select {
		case err := <-again.ended:
			t.Fatalf("the same frame was taken again: %v", err)
		default:
		}
		if len(again.net.blamed) > 0 || again.net.epoch() <= epoch {
			t.Errorf("blamed %v, leads in term %d after %d", again.net.blamed, again.net.epoch(), epoch)
		}
	})
}

// TestPanicAfterFrames: where nobody knows which of several frames it was, none is blamed;
// nothing that was not carried out is.
func TestPanicAfterFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		if err := l.end(); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			l.taken, l.pending = make([]arrival, n), []pending{{effect: &member.Do{}}}
			l.net.blamed = nil
			for i := range l.taken {
				l.taken[i] = arrival{"stranger", []byte{byte(i)}}
			}
			err := l.turn(func() error { panic("on purpose") })
			if !errors.Is(err, ErrPanic) || !strings.Contains(err.Error(), "on purpose") || len(l.pending) > 0 {
				t.Errorf("after %d frames: %v, %d effects wait", n, err, len(l.pending))
			}
			if blamed := len(l.net.blamed); (blamed == 1) != (n == 1) {
				t.Errorf("after %d frames %d peers are blamed", n, blamed)
			}
		}
	})
}

// TestPanicOfADecoder: a decoder that panics costs its frame alone.
func TestPanicOfADecoder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		a := arrival{"stranger", []byte("frame")}
		if err := (handler{l.Node}).decode(a, func() error { panic("on purpose") }); !errors.Is(err, ErrPanic) {
			t.Errorf("got %v", err)
		}
		if !l.poison.has(a.frame) || l.poison.has([]byte("another")) || len(l.net.blamed) != 1 {
			t.Errorf("poisoned %v, blamed %v", l.poison.frames, l.net.blamed)
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// TestPoisonIsBounded: what is kept of bad frames is bounded, in memory and on disk.
func TestPoisonIsBounded(t *testing.T) {
	s := store{newDisk()}
	var p poison
	if err := p.load(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for i := range maxPoison + 9 {
		if err := p.add(t.Context(), s, []byte{byte(i), byte(i >> 8)}); err != nil {
			t.Fatal(err)
		}
	}
	var again poison
	if err := again.load(t.Context(), s); err != nil || len(again.frames) != maxPoison || len(p.frames) != maxPoison {
		t.Errorf("%d frames are kept, %d known (%v)", len(again.frames), len(p.frames), err)
	}
}
