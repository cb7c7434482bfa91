package freeze

import (
	"context"
	"time"
)

// SetClock gives a machine that does not run yet another clock than the system's.
func (m *Machine) SetClock(now func() time.Time, sleep func(context.Context, time.Duration)) {
	m.now, m.sleep = now, sleep
}
