package stream

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// A day of events leaves nothing behind, whoever reads them, and however slowly.
func TestDay(t *testing.T) {
	const day = 20 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := NewHub(1, func(ctx context.Context, say func(string, []byte)) {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for n := 0; ; n++ {
				say("home", fmt.Appendf(nil, `{"n": %d, "text": "%01000d"}`, n, n))
				say("jobs", fmt.Appendf(nil, `{"n": %d}`, n/7))
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
		})
		read := func(pace time.Duration) (heard *int) {
			heard = new(int)
			l, err := h.Listen(0)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				defer l.Close()
				for ctx.Err() == nil {
					*heard += len(l.Next(ctx, time.Minute))
					select {
					case <-ctx.Done():
					case <-time.After(pace):
					}
				}
			}()
			return heard
		}
		quick, slow := read(time.Millisecond), read(10*time.Minute)
		time.Sleep(time.Hour)
		before := heapNow()
		time.Sleep(day)
		after := heapNow()
		cancel()
		synctest.Wait()
		if *quick < int(day/time.Second) || *slow == 0 || *slow > 1000 {
			t.Errorf("one heard %d frames, one who is slow %d", *quick, *slow)
		}
		const grown = 256 << 10 // bytes, of what the test itself keeps
		if after > before+grown {
			t.Errorf("the heap has %d bytes after a day, %d before", after, before)
		}
		if h.size > maxBytes || len(h.ring) > maxFrames || len(h.listeners) != 0 {
			t.Errorf("%d frames of %d bytes are kept, for %d listeners", len(h.ring), h.size, len(h.listeners))
		}
	})
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
