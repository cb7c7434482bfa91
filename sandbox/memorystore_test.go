package sandbox

import (
	"errors"
	"io/fs"
	"sync"
	"testing"
)

// TestMemoryStore: what many put at once is there, once.
func TestMemoryStore(t *testing.T) {
	var s MemoryStore
	if _, err := s.Get([32]byte{1}); !errors.Is(err, fs.ErrNotExist) || s.Has([32]byte{1}) || s.Bytes() != 0 {
		t.Errorf("the empty store has a block, %v, or %d bytes", err, s.Bytes())
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 100 {
				if err := s.Put([32]byte{byte(i)}, make([]byte, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for i := range 100 {
		if b, err := s.Get([32]byte{byte(i)}); len(b) != i || err != nil || !s.Has([32]byte{byte(i)}) {
			t.Errorf("block %d has %d bytes, %v", i, len(b), err)
		}
	}
	if want := int64(99 * 100 / 2); s.Bytes() != want {
		t.Errorf("%d bytes are stored, want %d", s.Bytes(), want)
	}
}
