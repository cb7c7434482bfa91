package node

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
)

const (
	// speedWait is the least time before a node measures its speed, so that what
	// starts with it comes first.
	speedWait = 30 * time.Second
	// speedEvery is how often it is measured again: machines change with heat,
	// power plans and new kernels.
	speedEvery = 24 * time.Hour
	// speedRetry is when to try again after a measurement failed.
	speedRetry = 10 * time.Minute
	// speedNews is the relative change that is worth telling the others.
	speedNews = 0.05
)

// A speedometer is a Runner that can measure how fast it runs tasks.
type speedometer interface {
	// Speed is that of one core, relative to the reference core.
	Speed(ctx context.Context) (float64, error)
}

// keepSpeed measures the machine's speed from time to time until ctx ends.
func (n *Node) keepSpeed(ctx context.Context, m speedometer) {
	wait := speedWait + rand.N(speedWait) // nodes that start together do not measure each other
	for pause.For(ctx, wait) == nil {
		wait = speedRetry
		if !n.mayRun(ctx) {
			continue // the owner comes first
		}
		speed, err := m.Speed(ctx)
		if err != nil {
			n.log.Debug("speed not measured", "err", err)
			continue
		}
		wait = speedEvery
		n.post(post{call: func() { n.measured(min(speed, overlay.MaxSpeed)) }})
	}
}

// mayRun says whether the owner lets tasks run now.
func (n *Node) mayRun(ctx context.Context) (may bool) {
	_ = n.look(ctx, func() { may = n.owner.State == overlay.Available })
	return may
}

func (n *Node) measured(speed float64) {
	old := n.speed
	n.speed = speed
	if math.Abs(speed-old) > speedNews*old {
		n.log.Info("speed measured", "cores", n.cfg.Cores, "speed", math.Round(100*speed)/100)
		n.advertiseSoon()
	}
}
