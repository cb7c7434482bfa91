package node

import "time"

// measureEvery is how often a node looks at the memory that tasks hold: a module that is dear to
// compile takes some 100 MiB a second.
const measureEvery = 2 * time.Second

// memoryLeft is what tasks may ask for: what the owner lends without what processes hold beyond
// what their jobs ask for. 0 is no bound.
func (l *lending) memoryLeft() int64 {
	if l.decision.Memory == 0 {
		return 0
	}
	return max(1, l.decision.Memory-l.beyond)
}

// measureIfDue looks at the memory that tasks hold, and has the node offer less where that is more
// than their jobs ask for. It is on the loop.
func (l *lending) measureIfDue(now time.Time) {
	idle := l.measure.IsZero() && l.exec.Count() == 0
	if idle || l.measure.After(now) || !l.exec.Runner.ReadsFiles() { // what only waits holds nothing
		return
	}
	l.measure = time.Time{}
	beyond, changed := l.exec.Measure()
	if l.exec.Count() > 0 || beyond > 0 {
		l.measure = now.Add(measureEvery)
	}
	if !changed {
		return
	}
	l.log.Info("what tasks hold beyond what their jobs ask for", "bytes", beyond)
	l.beyond = beyond
	l.owner.Memory = l.memoryLeft()
	l.lend()
	l.exec.Fit()
}
