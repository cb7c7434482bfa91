package exec

import (
	"crypto/sha256"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/scheduler/message"
)

// A checkpoint that nobody has at the moment is sought for as long as the work took
// that it stands for, and taken as soon as somebody has it.
func TestBringPatiently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &Sleeper{})
		elsewhere := newBlocks(t)
		whole := func([]byte) ([][sha256.Size]byte, error) { return nil, nil }
		manifest := waitedState(time.Minute)
		pages := &pageStore{ctx: t.Context(), blocks: elsewhere, of: whole, links: map[[32]byte]blocks.Link{}}
		root, err := pages.tree(manifest)
		if err != nil {
			t.Fatal(err)
		}
		seek := func(cpu time.Duration, stop <-chan struct{}) ([]byte, time.Duration, error) {
			begun := time.Now()
			from := message.Start{From: &message.Checkpoint{CID: root, Fuel: 1, CPU: cpu}}
			got, err := x.bringPatiently(t.Context(), from, x.newPages(t.Context(), nil), stop)
			return got, time.Since(begun), err
		}
		for _, c := range []struct{ cpu, least, most time.Duration }{
			{0, bringLeast - bringAgain, bringLeast},
			{20 * time.Second, 20*time.Second - bringAgain, 20 * time.Second},
			{time.Hour, bringMost - bringAgain, bringMost},
		} {
			if _, took, err := seek(c.cpu, nil); !errors.Is(err, blocks.ErrNotFound) || took < c.least || took > c.most {
				t.Errorf("a state of %v that nobody has: %v after %v", c.cpu, err, took)
			}
		}
		stop := make(chan struct{})
		close(stop)
		if _, took, err := seek(time.Hour, stop); err == nil || took > 0 {
			t.Errorf("told to stop: %v after %v", err, took)
		}
		go func() {
			<-time.After(7 * time.Second)
			if _, err := x.newPages(t.Context(), nil).tree(manifest); err != nil {
				t.Error(err)
			}
		}()
		got, took, err := seek(time.Hour, nil)
		if string(got) != string(manifest) || took < 7*time.Second || took > 7*time.Second+bringAgain {
			t.Errorf("found %d bytes after %v: %v", len(got), took, err)
		}
	})
}
