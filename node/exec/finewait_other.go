//go:build !linux

package exec

import "time"

// A fineTimer is not there on this system: the runtime's timers do.
type fineTimer struct{}

func newFineTimer() *fineTimer          { return nil }
func (t *fineTimer) wait(time.Duration) {}
func (t *fineTimer) close()             {}
