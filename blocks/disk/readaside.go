package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Asides returns the directories that were moved aside of a store in dir, the newest first: those of
// MoveAside and of Recover.
func Asides(dir string) []string {
	var out []string
	for i := 1; i <= maxAside; i++ {
		if _, err := os.Stat(asideName(dir, i)); err == nil {
			out = append([]string{asideName(dir, i)}, out...)
		}
	}
	return out
}

// ReadDamaged calls see with all pairs that are readable of a store that is not open, older ones
// before newer ones of the same key. A deleted key has a nil value. The value is valid only during
// the call. Values in segments are looked for in dir, and then in the store beside: Recover leaves
// them there. It returns the number of files that are damaged or missing, and of single values. It
// only reads.
func ReadDamaged(dir, beside string, see func(key string, value []byte) error) (lost int, _ error) {
	d := newDisk(vfs.Default, dir)
	segmented := []*segments{
		{disk: d, dir: filepath.Join(dir, segmentsName), open: map[uint64]*handle{}},
		{disk: d, dir: filepath.Join(beside, segmentsName), open: map[uint64]*handle{}},
	}
	for _, s := range segmented {
		defer s.forget()
	}
	for _, db := range databases {
		r, err := openRemains(d.FS, filepath.Join(dir, db.name))
		if errors.Is(err, errNoDatabase) {
			continue
		}
		if err != nil {
			return lost, fmt.Errorf("blocks: reading the store in %s: %w", dir, err)
		}
		l, err := r.each(func(p pair) error {
			key, value := string(p.key), p.value
			switch {
			case p.deleted && len(key) > 0 && key[:1] == placePrefix:
				return nil // the block may be needed all the same
			case p.deleted:
				value = nil
			case len(key) > 0 && key[:1] == placePrefix:
				if key, value = key[1:], placedIn(segmented, value); value == nil {
					lost++
					return nil
				}
			case value == nil:
				value = []byte{}
			}
			return see(key, value)
		})
		lost += l.tables + l.logs + l.values
		if err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// placedIn returns the value at a place in the first segments that have it, nil if none have.
func placedIn(all []*segments, place []byte) []byte {
	p, ok := readPlace(place)
	if !ok {
		return nil
	}
	for _, s := range all {
		if v, err := s.read(p, func(n int) []byte { return make([]byte, n) }); err == nil {
			return v
		}
	}
	return nil
}

// forget closes what is open to be read.
func (s *segments) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.open {
		s.dropLocked(n, false)
	}
}
