package submission

import (
	"godwit/lab/progress"
	"godwit/scheduler/message"
)

// mostFailures is how many failures of a job are told as they come: the rest is for `godwit logs`.
const mostFailures = 20

// failures are those of a job that somebody was told of. The zero value is none.
type failures struct {
	told map[uint64]bool // by index
	more bool            // it was said that there are more
}

// tell says which tasks failed since the last call.
func (f *failures) tell(p *progress.Progress, latest []message.FailedTask) {
	if f.told == nil {
		f.told = map[uint64]bool{}
	}
	for _, t := range latest {
		switch {
		case f.told[t.Index] || f.more:
		case len(f.told) == mostFailures:
			f.more = true
			p.Note("more tasks failed: `godwit logs ID --failed` has them")
		default:
			f.told[t.Index] = true
			p.Note("task %s failed: %s", t.Name, t.Reason)
		}
	}
}
