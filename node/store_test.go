package node

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
)

// manyKeys is a datastore of n keys of each of some overlays, which are made as they are asked for. look is called
// before the last.
type manyKeys struct {
	ds.Batching
	n        int
	overlays []string
	look     func()
}

// Query implements ds.Read.
func (m *manyKeys) Query(_ context.Context, q query.Query) (query.Results, error) {
	i := 0
	next := func() (query.Result, bool) {
		if i == m.n*len(m.overlays) {
			return query.Result{}, false
		}
		of := m.overlays[i/m.n]
		if i++; i == m.n*len(m.overlays) {
			m.look()
		}
		key := fmt.Sprintf("%s/%s%s/s/t/job/%016x", statePrefix, overlayPrefix, of, i)
		return query.Result{Entry: query.Entry{Key: key}}, true
	}
	return query.ResultsFromIterator(q, query.Iterator{Close: func() error { return nil }, Next: next}), nil
}

// TestSpacesHoldsNothing: whoever asks of which overlays something is kept does not hold the keys of a million results.
func TestSpacesHoldsNothing(t *testing.T) {
	const n, most = 200_000, 4 << 20 // the keys alone are 10 MB
	heap := func() (m runtime.MemStats) {
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m
	}
	before := heap()
	var held int64
	m := &manyKeys{n: n, overlays: []string{"a", "b"}}
	m.look = func() { held = int64(heap().HeapAlloc) - int64(before.HeapAlloc) }
	got, err := store{m}.spaces(t.Context())
	if want := []string{overlayPrefix + "a/", overlayPrefix + "b/"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if held > most {
		t.Errorf("%d bytes are held on the way, want at most %d", held, most)
	}
}
