package disk

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Errors of a store.
var (
	// ErrFull is returned by whatever writes to the store while the disk has no
	// room. What failed may still be written later, but no later write is overtaken.
	// The store goes on by itself once there is room; see Check.
	ErrFull = errors.New("blocks: disk is full")
	// ErrCorrupt is returned by Open, and by whatever reads, when what is on
	// disk is not what was written. See MoveAside.
	ErrCorrupt = errors.New("blocks: store is corrupt")
	// ErrBroken is returned by whatever writes to the store after the disk failed
	// it. Only opening it again, in a new process, helps.
	ErrBroken = errors.New("blocks: store cannot go on")
)

// openError tells a damaged store from a directory that is in use or may not be
// read, which the system says with an error of its own. Pebble has no error value
// for a lock of this very process, nor for most of what may be wrong in a file.
func openError(err error) error {
	var errno syscall.Errno
	switch {
	case isFull(err):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case errors.As(err, &errno) && errno != syscall.ENOENT, strings.Contains(err.Error(), "lock held by current process"):
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// isFull says that the disk, or what its user may have of it, is full.
func isFull(err error) bool {
	return err != nil && (vfs.IsNoSpaceError(err) || errors.Is(err, syscall.EDQUOT))
}

// diskError makes an error of pebble's one of ours, where there is one for it.
func diskError(err error) error {
	switch {
	case err == nil, err == pebble.ErrNotFound: // the most frequent, and to look into an error of pebble's takes 10 µs
	case isFull(err):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case pebble.IsCorruptionError(err), strings.Contains(err.Error(), "checksum mismatch"): // of values it says no more
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
