package task

import (
	"testing"
	"time"
)

func TestTimeLimit(t *testing.T) {
	for _, c := range []struct{ timeout, work, want time.Duration }{
		{0, 0, 24 * time.Hour},
		{0, time.Second, 10 * time.Minute},
		{0, time.Hour, 20 * time.Hour},
		{time.Second, time.Hour, time.Second},
	} {
		j := Job{Timeout: c.timeout, Work: c.work}
		if got := j.TimeLimit(); got != c.want {
			t.Errorf("timeout %v, work %v: got %v, want %v", c.timeout, c.work, got, c.want)
		}
	}
}
