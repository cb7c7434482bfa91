package budget

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Dir is a directory of files each of which may be removed at any time, such as compiled
// modules: what was used longest ago goes first. Others write and read the files. A file
// counts as used when it was written or, where the system keeps it, read.
type Dir struct {
	Path string
	Stay string // name of a file that is not to go; "" for none
}

// A kept is a file of a Dir.
type kept struct {
	path  string
	bytes int64
	used  time.Time
}

// Size returns the bytes of all files; 0 for a directory that cannot be read.
func (d *Dir) Size() (sum int64) {
	for _, f := range d.files() {
		sum += f.bytes
	}
	return sum
}

// Shrink removes files until so many bytes are gone, or all, and returns what is left.
func (d *Dir) Shrink(bytes int64) (left int64) {
	files := d.files()
	slices.SortFunc(files, func(a, b kept) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if bytes > 0 && os.Remove(f.path) == nil {
			bytes -= f.bytes
			continue
		}
		left += f.bytes
	}
	return left
}

// files lists what is there; what vanishes meanwhile is not.
func (d *Dir) files() (out []kept) {
	_ = filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() == d.Stay {
			return nil
		}
		if info, err := e.Info(); err == nil {
			out = append(out, kept{path, info.Size(), lastUse(info)})
		}
		return nil
	})
	return out
}
