package thanks

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/task"
)

const (
	// MostGot bounds the thanks that a worker keeps: a submitter and a day each. With more, measured work decides:
	// see Got.makeRoom.
	MostGot = 4096
	// GotFor is for how many days they are kept.
	GotFor = 366
	// mostPatrons bounds the submitters that are remembered.
	mostPatrons = 4096
)

// Errors of thanks that are not taken in. What wraps them says more.
var (
	// ErrNotOurs is of thanks to another worker.
	ErrNotOurs = errors.New("thanks to somebody else")
	// ErrStranger is of thanks by somebody of whose jobs nothing ran here.
	ErrStranger = errors.New("thanks by somebody for whom nothing ran here")
	// ErrTooMuch is of thanks for more than this machine can have done.
	ErrTooMuch = errors.New("thanks for more than this machine can have done")
	// ErrOld is of thanks of a day of which later ones are here, and of days long past.
	ErrOld = errors.New("thanks that are old")
)

// A Note is thanks as they came.
type Note struct {
	*task.Thanks
	Bytes []byte
}

// Got are the thanks that a worker has. Make it with NewGot.
type Got struct {
	self    task.PeerID
	cores   int // of this machine
	most    int // receipts that are kept
	notes   map[Page]Note
	patrons *Patrons
}

// NewGot returns those of a worker with so many cores, which has none.
func NewGot(self task.PeerID, cores int) *Got {
	return &Got{self: self, cores: max(1, cores), most: MostGot, notes: map[Page]Note{}, patrons: NewPatrons(mostPatrons)}
}

// Ran adds CPU time that this machine measured itself for a submitter's tasks, 0 if a job was only prepared. It returns
// the submitter that is forgotten for it, "" if none is, and whether anything changed.
func (g *Got) Ran(of task.PeerID, work time.Duration) (gone task.PeerID, changed bool) {
	if of == g.self || of == "" || work <= 0 && g.patrons.Has(of) {
		return "", false
	}
	return g.patrons.Add(of, work), true
}

// Patrons returns the submitters that are remembered. They are not to be changed.
func (g *Got) Patrons() *Patrons { return g.patrons }

// Take takes in thanks whose signature was checked, and returns which of those before are gone for it.
func (g *Got) Take(n Note, now time.Time) (gone []Page, err error) {
	t := n.Thanks
	name := fromSubmitter(t)
	old, is := g.notes[name]
	switch {
	case t.Worker != g.self:
		return nil, fmt.Errorf("%w: %s", ErrNotOurs, t.Worker)
	case !g.patrons.Has(t.Submitter):
		return nil, fmt.Errorf("%w: %s", ErrStranger, t.Submitter)
	case is && old.Issued >= t.Issued, t.Day < task.DayOf(now)-GotFor:
		return nil, ErrOld
	}
	if err := t.Counts(now); err != nil {
		return nil, err
	}
	var sum task.Given
	for _, given := range t.Given {
		sum.Add(given)
	}
	if most := time.Duration(g.cores) * task.Day; sum.CPU > most {
		return nil, fmt.Errorf("%w: %v on a day, of %v", ErrTooMuch, sum.CPU, most)
	}
	g.notes[name] = n
	return g.prune(now), nil
}

// prune drops what is old, and what is too much.
func (g *Got) prune(now time.Time) (gone []Page) {
	for name := range g.notes {
		if name.Day < task.DayOf(now)-GotFor {
			gone = append(gone, name)
			delete(g.notes, name)
		}
	}
	return append(gone, g.makeRoom(g.most)...)
}

// Since lists the thanks of an overlay, "" for all, from a day on: the latest days first.
func (g *Got) Since(overlay string, day int64) []Note {
	var out []Note
	for name, n := range g.notes {
		if (overlay == "" || name.Overlay == overlay) && name.Day >= day {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b Note) int {
		return -comparePages(fromSubmitter(a.Thanks), fromSubmitter(b.Thanks))
	})
	return out
}
