package thanks

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// Patrons are the submitters for which this machine ran tasks, with the CPU time that this machine measured itself for
// each. A key is free and a receipt may claim anything, so measured work alone decides which submitters are remembered
// when there are too many. The zero value has no submitter and no bound. Patrons are not safe for concurrent use.
type Patrons struct {
	most int // 0 means no bound
	work map[task.PeerID]time.Duration
}

// NewPatrons returns Patrons without submitters, which keep at most most.
func NewPatrons(most int) *Patrons {
	return &Patrons{most: most, work: map[task.PeerID]time.Duration{}}
}

// Add adds measured work for a submitter, 0 if a job was only prepared, and returns the submitter that is forgotten
// for it, or "". If there are too many, the submitter with the least work is replaced and its work is inherited. This
// bound on the error of the count guarantees that a submitter with more than 1/most of all work is always remembered,
// whatever the number of other keys.
func (p *Patrons) Add(of task.PeerID, work time.Duration) (gone task.PeerID) {
	had, known := p.work[of]
	if !known && p.most > 0 && len(p.work) >= p.most {
		gone = p.least()
		had = p.work[gone]
		delete(p.work, gone)
	}
	p.work[of] = addCPU(had, max(0, work))
	return gone
}

// least returns the submitter with the least work, of several the one with the smallest ID.
func (p *Patrons) least() (least task.PeerID) {
	for of := range p.work {
		if least == "" || p.Compare(of, least) < 0 {
			least = of
		}
	}
	return least
}

// Has reports whether a submitter is remembered.
func (p *Patrons) Has(of task.PeerID) bool {
	_, known := p.work[of]
	return known
}

// Work returns the measured work for a submitter, 0 if it is not remembered.
func (p *Patrons) Work(of task.PeerID) time.Duration { return p.work[of] }

// All lists the submitters in the order of their IDs.
func (p *Patrons) All() []task.PeerID { return slices.Sorted(maps.Keys(p.work)) }

// Compare orders submitters by work, then by ID.
func (p *Patrons) Compare(a, b task.PeerID) int {
	return cmp.Or(cmp.Compare(p.work[a], p.work[b]), cmp.Compare(a, b))
}
