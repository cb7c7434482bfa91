package impose

import (
	"time"

	"godwit/lab/testbed/measure"
	"godwit/task"
)

// OverheadOf is how much longer tasks that are done kept their machines, in the mean,
// than the rates say: from being sent to the leader's knowing of their end, in the
// trace's time.
func (b *Bed) OverheadOf(m *measure.Run, tasks []measure.TaskTimes) time.Duration {
	machine := map[task.PeerID]int{}
	for i, s := range m.Servers {
		machine[s.Peer] = i
	}
	sum, n := 0., 0
	for i := range tasks {
		t := &tasks[i]
		if t.State != measure.TaskDone || t.Moves > 0 {
			continue
		}
		n++
		sum += m.Seconds(t.Done.Sub(t.Sent)) - t.Work.Seconds()/b.SpeedOf(t.Class, machine[t.Server])
	}
	return time.Duration(max(0, sum/float64(max(1, n))) * float64(time.Second))
}
