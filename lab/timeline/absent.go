//go:build !plot

package timeline

import (
	"time"

	"godwit/lab/plot"
	"godwit/scheduler/message"
)

// Draw returns what plot.Able does.
func Draw(string, message.JobStatus, time.Time) (attempts, peers int, err error) {
	return 0, 0, plot.Able()
}
