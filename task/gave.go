package task

import "time"

// A Gift is what one worker gave to one task.
type Gift struct {
	Worker PeerID
	Given
}

// Gifts says who gave what to a result that is held: the worker that ended the task, and of one that
// moved those before it whose parts its chain shows, with their time and no task. now is when it is
// taken in, of a job that was submitted at since. What a worker says that its lease did not allow is cut to what it
// did: one core from when the lease was given.
func Gifts(r *Result, since, now time.Time) []Gift {
	if r.Outcome != Completed {
		return nil
	}
	end := Given{Tasks: 1, CPU: r.CPU}
	var chain []Link
	if r.Trail != nil {
		chain = r.Trail.Began
		end.Fuel = r.Trail.Fuel
		if len(chain) > 0 {
			end.Fuel -= min(end.Fuel, chain[0].Fuel)
		}
	}
	if r.Receipt != nil {
		since = later(since, time.UnixMilli(r.Receipt.Issued))
	}
	out := []Gift{{r.Worker, within(end, now.Sub(since))}}
	for i := range chain {
		l := &chain[i]
		part := Given{CPU: l.CPU, Fuel: l.Fuel}
		if i+1 < len(chain) {
			part.CPU, part.Fuel = max(0, l.CPU-chain[i+1].CPU), l.Fuel-min(l.Fuel, chain[i+1].Fuel)
		} else if len(l.Voucher.Prior) > 0 {
			break // it went on from a state that is not shown: how much is its own is not known
		}
		begun := time.UnixMilli(l.Voucher.Receipt.Issued)
		out = append(out, Gift{l.Voucher.Worker, within(part, now.Sub(begun))})
	}
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// within cuts what was given to what one core does in the time of a lease, with a minute for clocks that
// differ.
func within(g Given, lease time.Duration) Given {
	most := max(0, lease) + clockSlack*time.Millisecond
	g.CPU = min(max(g.CPU, 0), most)
	if ms := uint64(most.Milliseconds()); g.Fuel/fastestFuel >= ms {
		g.Fuel = ms * fastestFuel
	}
	return g
}
