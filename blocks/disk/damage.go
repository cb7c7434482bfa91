package disk

import (
	"errors"
	"fmt"
	"os"

	ds "github.com/ipfs/go-datastore"
)

// Check returns why a store takes no blocks now: ErrFull, which passes
// when there is room, ErrCorrupt or ErrBroken, which do not before it is opened
// again. It is nil for a store that is well, and for one that Open did not
// open. It costs one call of the system.
func Check(s ds.Batching) error {
	st, ok := s.(*store)
	if !ok {
		return nil
	}
	if err := st.disk.state(); err != nil {
		return err
	}
	return st.disk.room(0, true)
}

// maxAside bounds the damaged stores that MoveAside leaves beside one another.
const maxAside = 1000

// MoveAside renames a directory to the first free of dir.corrupt-1, dir.corrupt-2
// and so on, and returns that, so that Open can make a new one and what can be
// saved of the old is not lost. Nothing may use the directory.
func MoveAside(dir string) (string, error) {
	return asideOf(dir, func(to string) error { return os.Rename(dir, to) })
}

// asideOf calls make with the first free name for what is moved aside of dir, and returns the name.
func asideOf(dir string, make func(to string) error) (string, error) {
	for i := 1; i <= maxAside; i++ {
		to := asideName(dir, i)
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("blocks: moving %s aside: %w", dir, err)
		}
		if err := make(to); err != nil {
			return "", fmt.Errorf("blocks: moving %s aside: %w", dir, err)
		}
		return to, nil
	}
	return "", fmt.Errorf("blocks: moving %s aside: there are %d beside it already", dir, maxAside)
}

func asideName(dir string, i int) string { return fmt.Sprintf("%s.corrupt-%d", dir, i) }
