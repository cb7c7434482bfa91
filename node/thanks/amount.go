package thanks

import (
	"math"
	"time"

	"godwit/task"
)

// An Amount is a total of what was given. Receipts claim any number, so sums stay at the largest value instead of
// wrapping around. The zero value is nothing.
type Amount struct {
	Tasks uint64        `json:"tasks"`
	CPU   time.Duration `json:"cpu_ns"`
	Fuel  uint64        `json:"fuel"`
}

func amountOf(g task.Given) Amount { return Amount{g.Tasks, g.CPU, g.Fuel} }

// add adds another amount, and stays at the largest value.
func (a *Amount) add(b Amount) {
	a.Tasks = addCount(a.Tasks, b.Tasks)
	a.CPU = addCPU(a.CPU, max(0, b.CPU))
	a.Fuel = addCount(a.Fuel, b.Fuel)
}

func addCount(a, b uint64) uint64 { return a + min(b, math.MaxUint64-a) }

// addCPU adds durations of at least 0.
func addCPU(a, b time.Duration) time.Duration { return a + min(b, math.MaxInt64-a) }

// dayOf returns the CPU time of so many cores in a day, at least of one.
func dayOf(cores int) time.Duration {
	return time.Duration(min(max(1, cores), int(math.MaxInt64/task.Day))) * task.Day
}
