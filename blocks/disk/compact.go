package disk

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	ds "github.com/ipfs/go-datastore"
)

// Compact has both databases drop what was deleted below the prefixes, for good, and segments
// give back what nobody refers to: those without a value that is needed are removed, those of
// which garbageShare is garbage rewritten while there is room. Of values that lie in the databases only keys
// are rewritten: they lie in files of their own, which go when nothing refers to them, or
// are rewritten by the database in its own time when a fifth of one is garbage.
func (s *store) Compact(ctx context.Context, prefixes ...string) error {
	return s.disk.do(func() error {
		for _, db := range []*database{s.log, s.bulk} {
			for _, p := range prefixes {
				for _, p := range []string{p, placePrefix + p} {
					// The prefixes end in "/", and "0" follows it.
					if err := db.pebble.Compact(ctx, []byte(p), []byte(p[:len(p)-1]+"0"), false); err != nil {
						return fmt.Errorf("giving back space: %w", err)
					}
				}
			}
		}
		return s.tidy(ctx, true)
	})
}

const (
	// garbageShare is the part of a segment, one in so many, from which garbage has it rewritten:
	// what is rewritten is then at most four times what is won.
	garbageShare = 5
	// moveBytes is how much of a segment is moved at a time, and held in memory.
	moveBytes = 8 << 20
)

// tidy removes segments that nothing refers to, and rewrites those with much garbage. A segment
// goes only when bulk has it on disk that nothing refers to it: places that were deleted come
// back with a crash.
func (s *store) tidy(ctx context.Context, rewrite bool) error {
	s.tidying.Lock()
	defer s.tidying.Unlock()
	below := s.segments.end()
	numbers, err := s.segments.list()
	if err != nil || len(numbers) == 0 {
		return err
	}
	live := map[uint64]uint64{} // bytes, by segment
	err = s.places(func(_ ds.Key, p place) error { live[p.segment] += p.bytes; return ctx.Err() })
	if err != nil {
		return err
	}
	if err := errors.Join(s.flush(ctx), s.segments.sync()); err != nil { // the second closes them
		return err
	}
	due := map[uint64]bool{}
	for _, n := range numbers {
		if n >= below {
			continue
		}
		if live[n] == 0 {
			s.segments.remove(n)
			continue
		}
		info, err := s.disk.Stat(s.segments.path(n))
		if err != nil {
			continue // whoever reads it says so
		}
		due[n] = rewrite && (uint64(info.Size())-live[n])*garbageShare >= uint64(info.Size())
	}
	return s.rewrite(ctx, due, live)
}

// rewrite moves what is needed out of segments, and removes these.
func (s *store) rewrite(ctx context.Context, due map[uint64]bool, live map[uint64]uint64) error {
	var room int
	for n := range due {
		if !due[n] || s.disk.room(room+int(live[n]), true) != nil {
			delete(due, n) // rewriting takes room before it gives any
			continue
		}
		room += int(live[n])
	}
	if len(due) == 0 {
		return nil
	}
	m := &move{store: s, from: due}
	if err := s.places(func(k ds.Key, p place) error { return m.add(ctx, k, p) }); err != nil {
		return err
	}
	if err := m.flush(); err != nil {
		return err
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	for n := range due {
		s.segments.remove(n)
	}
	return nil
}

// A move gathers values of segments that are to go, and writes them to others.
type move struct {
	store  *store
	from   map[uint64]bool
	keys   []ds.Key
	places []place
	values [][]byte
	bytes  uint64
}

func (m *move) add(ctx context.Context, k ds.Key, p place) error {
	if !m.from[p.segment] {
		return ctx.Err()
	}
	v, err := m.store.readPlaced(p, func(n int) []byte { return make([]byte, n) })
	if err != nil {
		delete(m.from, p.segment) // it stays, damaged; the store says so
		return nil
	}
	m.keys, m.places, m.values = append(m.keys, k), append(m.places, p), append(m.values, v)
	if m.bytes += p.bytes; m.bytes < moveBytes {
		return ctx.Err()
	}
	return m.flush()
}

// flush writes what was gathered. What was deleted meanwhile, or stored again, stays so.
func (m *move) flush() error {
	s := m.store
	to, err := s.segments.write(m.values)
	if err != nil {
		return err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	batch := s.bulk.pebble.NewBatch()
	defer batch.Close()
	for i, k := range m.keys {
		p, have, err := s.place(k)
		if err != nil {
			return err
		}
		if !have || p != m.places[i] {
			continue
		}
		if err := batch.Set(placeKey(k), to[i].encode(), nil); err != nil {
			return fmt.Errorf("moving %s: %w", k, err)
		}
	}
	if err := batch.Commit(pebble.NoSync); err != nil {
		return err
	}
	s.dirty.Store(true)
	m.keys, m.places, m.values, m.bytes = nil, nil, nil, 0
	return nil
}
