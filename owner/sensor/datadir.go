package sensor

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// DataDir adds up the files below a node's data directory.
type DataDir struct{ Dir string }

// diskEvery is how often that is done. A directory holds some hundred files:
// the blocks are inside a database's.
const diskEvery = 30 * time.Second

// Name returns "disk".
func (DataDir) Name() string { return "disk" }

// Kinds returns Disk.
func (DataDir) Kinds() []Kind { return []Kind{Disk} }

// Run watches until ctx ends.
func (d DataDir) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, d, report, func(ctx context.Context) error {
		return Poll(ctx, diskEvery, func() error {
			sum, err := d.Size()
			if err != nil {
				return err
			}
			report(Reading{Sensor: d.Name(), Kind: Disk, At: time.Now(), Value: float64(sum), Detail: d.Dir})
			return nil
		})
	})
}

// Size adds the files up, in bytes, and skips what vanishes meanwhile. It fails where the
// directory cannot be read.
func (d DataDir) Size() (sum int64, err error) {
	err = filepath.WalkDir(d.Dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case path == d.Dir && err != nil:
			return fmt.Errorf("the data directory cannot be read: %w", err)
		case err != nil || !e.Type().IsRegular():
			return nil
		}
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum, err
}
