package place

import "time"

// A Situation is what a coordinator knows beside tasks, members and forecasts.
// The zero Situation is a world in which nothing takes time, nothing is saved
// and nobody knows how many tasks wait.
type Situation struct {
	// Waiting is how many tasks wait, at least; 0 unknown. Endless is a queue
	// that refills itself.
	Waiting int
	Endless bool
	// Delay is the time that a message takes one way, Detect how long a member
	// that vanished is believed to be there.
	Delay, Detect time.Duration
	// Rate is the bytes a second at which states and checkpoints travel, as
	// measured; 0 is no bound.
	Rate float64
	// Pause is how long a task stands still for a checkpoint, for each 64 MiB of
	// its state.
	Pause time.Duration
	// Saves says that tasks make checkpoints which outlive their member, and that
	// one lost with its member goes on from there.
	Saves bool
}

// bytesPerPause is the state that Situation.Pause is for; the least is a 64th.
const bytesPerPause = 64 << 20

// PauseFor is how long a task of so many bytes stands still for a checkpoint.
func (s *Situation) PauseFor(state int64) time.Duration {
	return time.Duration(float64(s.Pause) * float64(max(state, bytesPerPause/64)) / bytesPerPause)
}

// Transfer is how long so many bytes take from one member to another.
func (s *Situation) Transfer(bytes int64) time.Duration {
	if s.Rate <= 0 {
		return s.Delay
	}
	return s.Delay + time.Duration(min(float64(longest), float64(bytes)/s.Rate*float64(time.Second)))
}
