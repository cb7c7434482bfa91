package node

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"

	"godwit/predictor"
	"godwit/scheduler/message"
)

// TestLearntOutlastsARestart: what the pool learnt is made durable at most once an hour and is there
// after a restart; what cannot be read is learnt anew, and the log says so in a line.
func TestLearntOutlastsARestart(t *testing.T) {
	disk := dssync.MutexWrap(ds.NewMapDatastore())
	start := func() (*past, *strings.Builder) {
		log := &strings.Builder{}
		ps := newPast(newDriver(&core{store: store{disk}, log: slog.New(slog.NewTextHandler(log, nil))}))
		ps.recallLearnt(t.Context())
		return ps, log
	}
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	first, log := start()
	first.noteLearnt(now)
	if first.pool.Learnt() != nil || len(first.pending) != 0 || log.Len() != 0 {
		t.Fatalf("a new node learnt something, or keeps it: %d pending, log %q", len(first.pending), log)
	}
	first.pool.Learn([]predictor.Answer{{}})
	want := first.pool.Learnt()
	first.noteLearnt(now)
	first.noteLearnt(now.Add(noteLearntEvery - 1))
	if len(first.pending) != 1 {
		t.Fatalf("%d times kept within an hour, want once", len(first.pending))
	}
	first.noteLearnt(now.Add(noteLearntEvery))
	if len(first.pending) != 2 {
		t.Fatalf("not kept again after an hour")
	}
	kept := first.pending[1].machine.(message.Persist)
	if err := first.store.commit(t.Context(), []message.Persist{kept}); err != nil {
		t.Fatal(err)
	}
	again, log := start()
	if !bytes.Equal(again.pool.Learnt(), want) || log.Len() != 0 {
		t.Errorf("after a restart another is known, log %q", log)
	}

	kept.Value = kept.Value[:len(kept.Value)-1]
	if err := first.store.commit(t.Context(), []message.Persist{kept}); err != nil {
		t.Fatal(err)
	}
	anew, log := start()
	said := log.String()
	if anew.pool.Learnt() != nil || strings.Count(said, "\n") != 1 || !strings.Contains(said, "learnt anew") {
		t.Errorf("bytes that are cut off: %d bytes known, log %q", len(anew.pool.Learnt()), said)
	}
}
