package api

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// What changes is told no oftener than a person sees, and what does not now and then all the same.
// The end of the job is told at once.
func TestPause(t *testing.T) {
	for name, c := range map[string]struct {
		changed, over time.Duration // when it is, below zero for never
		takes         time.Duration
		ended         bool
	}{
		"nothing":           {-1, -1, watchAtLeast, false},
		"soon":              {0, -1, watchEvery, false},
		"late":              {watchEvery + 1, -1, watchEvery + 1, false},
		"over at once":      {0, 0, 0, true},
		"over in the pause": {0, watchEvery / 2, watchEvery / 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				changed, over := make(chan struct{}, 1), make(chan struct{})
				if c.changed >= 0 {
					time.AfterFunc(c.changed, func() { changed <- struct{}{} })
				}
				if c.over >= 0 {
					time.AfterFunc(c.over, func() { close(over) })
				}
				begun := time.Now()
				there, ended := pause(httptest.NewRequest("GET", "/", nil), changed, over)
				if took := time.Since(begun); !there || ended != c.ended || took != c.takes {
					t.Errorf("got %v, %v after %v, want %v after %v", there, ended, took, c.ended, c.takes)
				}
			})
		})
	}
}
