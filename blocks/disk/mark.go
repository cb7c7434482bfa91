package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	// markName is a file in a store's directory in which damage was found. The store does not open
	// before Recover has removed the file, because the next compaction would fail at the same place.
	markName = "damaged"
	// maxMark bounds what is read of the file.
	maxMark = 4 << 10
)

// mark notes that the store is damaged, for the next Open. If that fails, the damage is found again.
func (d *disk) mark(why error) {
	f, err := d.FS.Create(d.PathJoin(d.dir, markName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return
	}
	_, _ = io.WriteString(f, why.Error())
	_ = errors.Join(f.Sync(), f.Close())
}

// marked returns ErrCorrupt with the reason if damage was found in the store before.
func (d *disk) marked() error {
	f, err := d.FS.Open(d.PathJoin(d.dir, markName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxMark))
	if err != nil {
		return err
	}
	why := strings.TrimPrefix(string(b), ErrCorrupt.Error()+": ")
	return fmt.Errorf("%w: found earlier: %s", ErrCorrupt, why)
}

// unmark removes the note.
func (d *disk) unmark() error {
	err := d.FS.Remove(d.PathJoin(d.dir, markName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
