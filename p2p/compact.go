package p2p

import (
	"context"
	"fmt"
)

// compact has both databases drop what was deleted below the prefixes, for good.
// Only keys are rewritten for it: blocks lie in files of their own, which go when
// nothing refers to them, or are rewritten by the database in its own time when a
// fifth of one is garbage.
func (s *store) compact(ctx context.Context, prefixes ...string) error {
	return s.disk.do(func() error {
		for _, db := range []*database{s.log, s.bulk} {
			for _, p := range prefixes {
				// The prefixes end in "/", and "0" follows it.
				if err := db.pebble.Compact(ctx, []byte(p), []byte(p[:len(p)-1]+"0"), false); err != nil {
					return fmt.Errorf("giving back space: %w", err)
				}
			}
		}
		return nil
	})
}
