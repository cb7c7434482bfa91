package exec

import (
	"errors"
	"os"
	"testing"

	"godwit/blocks"
	"godwit/p2p/wire"
	"godwit/task"
)

// What is staged has the size that the job says, or nothing is.
func TestStageSizes(t *testing.T) {
	h := newFakeHost()
	x := h.executor(t, &Sleeper{})
	const size = 1 << 20
	c, err := h.blocks.ImportBytes(t.Context(), make([]byte, size))
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[int64]error{size - 1: wire.ErrTooLarge, size + 1: blocks.ErrSize, size: nil} {
		path, err := x.jobs.stage(t.Context(), inputRoot(&task.FileRef{CID: c, Size: said}))
		if !errors.Is(err, want) {
			t.Errorf("said to have %d bytes: %v", said, err)
		}
		if st, e := os.Stat(path); err == nil && (e != nil || st.Size() != size) {
			t.Errorf("staged as %+v, %v", st, e)
		}
		files, err := os.ReadDir(x.StageDir)
		if err != nil || want != nil && len(files) > 0 {
			t.Errorf("%d files are left, %v", len(files), err)
		}
		os.Remove(path)
	}
}
