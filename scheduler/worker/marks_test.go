package worker

import (
	"testing"

	"godwit/scheduler/message"
)

// TestMarksAreToldOnce: a mark is told with the next checkpoint, and again only where all is told
// again; of many the latest are.
func TestMarksAreToldOnce(t *testing.T) {
	var m tellable
	add := func(from, to uint64) {
		for fuel := from; fuel < to; fuel++ {
			m.add([]message.Mark{{Fuel: fuel}})
		}
	}
	add(1, 3)
	if got := m.next(false); len(got) != 2 || len(m.next(false)) != 0 {
		t.Errorf("told %v first", got)
	}
	add(3, 4)
	if got := m.next(false); len(got) != 1 || got[0].Fuel != 3 {
		t.Errorf("told %v then, want the third", got)
	}
	if got := m.next(true); len(got) != 3 || len(m.next(false)) != 0 {
		t.Errorf("told %v again", got)
	}
	add(4, 40)
	if got := m.next(false); len(got) != message.MaxMarks || got[len(got)-1].Fuel != 39 || got[0].Fuel != 32 {
		t.Errorf("of many told %v", got)
	}
}
