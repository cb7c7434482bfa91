package exec

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/p2p/wire"
	"godwit/scheduler/message"
	"godwit/task"
)

func (h *fakeHost) keep(t *testing.T, fill byte, size int) task.CID {
	t.Helper()
	data := make([]byte, size)
	data[0] = fill
	c, err := h.blocks.ImportBytes(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stagedFiles returns how many files are staged, and what they take by the directory and
// by the count.
func stagedFiles(t *testing.T, h *fakeHost, x *Executor) (files int, bytes, counted int64) {
	t.Helper()
	entries, err := os.ReadDir(x.StageDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	return len(entries), bytes, h.space.used
}

// What is staged has the size that the job says, or nothing is.
func TestStageSizes(t *testing.T) {
	h := newFakeHost()
	x := h.executor(t, &Sleeper{})
	const size = 1 << 20
	c := h.keep(t, 1, size)
	for said, want := range map[int64]error{size - 1: wire.ErrTooLarge, size + 1: blocks.ErrSize, size: nil} {
		path, err := x.jobs.files.take(t.Context(), stagedName{CID: c}, blocks.Exactly(said), nil)
		if !errors.Is(err, want) {
			t.Errorf("said to have %d bytes: %v", said, err)
		}
		if st, e := os.Stat(path); err == nil && (e != nil || st.Size() != size) {
			t.Errorf("staged as %+v, %v", st, e)
		}
		if err == nil {
			x.jobs.files.drop(stagedName{CID: c})
		}
		if n, bytes, counted := stagedFiles(t, h, x); n > 0 || bytes > 0 || counted != 0 {
			t.Errorf("%d files of %d bytes are left, %d are counted", n, bytes, counted)
		}
	}
}

// A file is staged once for all jobs that read it, within the space that there is, and
// goes with the last of them.
func TestStagingShares(t *testing.T) {
	h := newFakeHost()
	x := h.executor(t, &Sleeper{})
	const size = 1 << 20
	a, b := h.keep(t, 1, size), h.keep(t, 2, size)
	h.space.most = 2*size - 1
	take := func(c task.CID) error {
		_, err := x.jobs.files.take(t.Context(), stagedName{CID: c}, blocks.Exactly(size), nil)
		return err
	}
	want := func(step string, files int) {
		t.Helper()
		if n, bytes, counted := stagedFiles(t, h, x); n != files || bytes != int64(files)*size || counted != bytes {
			t.Errorf("%s: %d files of %d bytes, %d are counted; want %d files", step, n, bytes, counted, files)
		}
	}
	if err := errors.Join(take(a), take(a)); err != nil {
		t.Fatal(err)
	}
	want("one file for two", 1)
	if err := take(b); !errors.Is(err, errNoSpace) {
		t.Errorf("beyond the space: %v", err)
	}
	want("refused", 1)
	x.jobs.files.drop(stagedName{CID: a})
	want("one still reads it", 1)
	x.jobs.files.drop(stagedName{CID: a})
	want("nobody reads it", 0)
	if err := take(b); err != nil {
		t.Errorf("there is space again: %v", err)
	}
	want("another", 1)
	if _, err := x.jobs.files.take(t.Context(), stagedName{CID: b}, blocks.Exactly(1), nil); err == nil {
		t.Error("a file that is staged was taken as one of another size")
	}
	gone, end := context.WithCancel(t.Context())
	end()
	_, err := x.jobs.files.take(gone, stagedName{CID: a}, blocks.Exactly(size), nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("for a job that is over: %v", err)
	}
	want("refused again", 1)
}

// A filing is a Sleeper whose tasks read files.
type filing struct{ Sleeper }

func (*filing) ReadsFiles() bool { return true }

// Once no lease needs a job any more, what makes it ready ends, and leaves nothing.
func TestReleaseEndsPreparation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &filing{})
		h.fetching = make(chan struct{})
		id := h.prepared(t, x, 1, time.Second) // its module is nowhere, and is waited for
		if got := len(h.heard()); got != 0 {
			t.Fatalf("%d events while it is made ready", got)
		}
		h.do(x, message.Release{Job: id})
		synctest.Wait()
		if n := h.gaveUp.Load(); n != 1 {
			t.Errorf("%d fetches ended with the release", n)
		}
		if got := h.heard(); len(got) != 0 {
			t.Errorf("a preparation that was released is answered: %+v", got)
		}
		close(h.fetching)
		h.do(x, message.Prepare{Job: id})
		synctest.Wait()
		if got := h.heard(); len(got) != 1 {
			t.Errorf("made ready again: %+v", got)
		}
		if n, _, counted := stagedFiles(t, h, x); n != 0 || counted != 0 {
			t.Errorf("%d files are left, %d bytes are counted", n, counted)
		}
	})
}
