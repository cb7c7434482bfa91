package migrate

import (
	"math/rand/v2"
	"time"

	"godwit/internal/spec"
	"godwit/task"
)

func init() {
	Register("none", Kind{Does: "nothing moves", Make: func(*spec.Params) Policy { return None{} }})
	Register("reactive", Kind{Does: "tasks move when their member gives notice that it goes",
		Make: func(*spec.Params) Policy { return &Reactive{} }})
}

// None moves nothing.
type None struct{}

// Scan predicts nothing.
func (None) Scan(time.Time, []Host, Forecast, *rand.Rand) []Prediction { return nil }

// HeedsNotices implements Heeder.
func (None) HeedsNotices(bool, Situation) bool { return true }

// Left implements Policy.
func (None) Left(task.PeerID, time.Time) {}

// Period is 0.
func (None) Period() time.Duration { return 0 }

// Reactive moves tasks on notice (Zhang section 4.3.1). It predicts nothing, so
// that those that crash or go without notice are lost.
type Reactive struct{ out []Prediction }

// Scan names the hosts that gave notice and run tasks. No time is said of their
// going.
func (r *Reactive) Scan(_ time.Time, hosts []Host, _ Forecast, _ *rand.Rand) []Prediction {
	r.out = r.out[:0]
	for i := range hosts {
		if h := &hosts[i]; h.Leaving && len(h.Tasks) > 0 {
			r.out = append(r.out, Prediction{Peer: h.Peer, Exit: true,
				Reason: "it gave notice that it goes or takes no guests any more"})
		}
	}
	return r.out
}

// HeedsNotices implements Heeder: it looks at nothing else.
func (*Reactive) HeedsNotices(bool, Situation) bool { return true }

// Left implements Policy.
func (*Reactive) Left(task.PeerID, time.Time) {}

// Period is 0: a scan follows a notice.
func (*Reactive) Period() time.Duration { return 0 }
