package p2p

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	ds "github.com/ipfs/go-datastore"
)

// CheckStore returns why a store takes no blocks now: ErrDiskFull, which passes
// when there is room, ErrCorrupt or ErrBroken, which do not before it is opened
// again. It is nil for a store that is well, and for one that OpenStore did not
// open. It costs one call of the system.
func CheckStore(s ds.Batching) error {
	st, ok := s.(*store)
	if !ok {
		return nil
	}
	if err := st.disk.state(); err != nil {
		return err
	}
	return st.disk.room(0, true)
}

// corrupt takes pebble's word that a file is not what was written.
func (d *disk) corrupt(info pebble.DataCorruptionInfo) {
	d.fail(fmt.Errorf("%w: %s: %w", ErrCorrupt, info.Path, info.Details))
}

// openError tells a damaged store from a directory that is in use or may not be
// read, which the system says with an error of its own. Pebble has no error value
// for a lock of this very process, nor for most of what may be wrong in a file.
func openError(err error) error {
	var errno syscall.Errno
	switch {
	case isFull(err):
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	case errors.As(err, &errno) && errno != syscall.ENOENT, strings.Contains(err.Error(), "lock held by current process"):
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// maxAside bounds the damaged stores that MoveAside leaves beside one another.
const maxAside = 1000

// MoveAside renames a directory to the first free of dir.corrupt-1, dir.corrupt-2
// and so on, and returns that, so that OpenStore can make a new one and what can be
// saved of the old is not lost. Nothing may use the directory.
func MoveAside(dir string) (string, error) {
	for i := 1; i <= maxAside; i++ {
		to := fmt.Sprintf("%s.corrupt-%d", dir, i)
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("p2p: moving %s aside: %w", dir, err)
		}
		if err := os.Rename(dir, to); err != nil {
			return "", fmt.Errorf("p2p: moving %s aside: %w", dir, err)
		}
		return to, nil
	}
	return "", fmt.Errorf("p2p: moving %s aside: there are %d beside it already", dir, maxAside)
}
