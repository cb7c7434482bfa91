// Package thanks keeps what submitters and workers thank each other for: what a submitter owes those who
// ran its tasks, what a worker was thanked for, and what all of that comes to. It has no clock and no
// network, and is not safe for concurrent use.
package thanks

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/task"
)

const (
	// MostOwed bounds the pages of a submitter: a worker and a day each. With more, the page with the least CPU time
	// is dropped.
	MostOwed = 8192
	// owedFor is for how long thanks wait for a worker that is away.
	owedFor = 7
	// eachAtMost is how often a worker is thanked anew on one day: a signature for all that it gave meanwhile.
	eachAtMost = time.Minute
	// mostPause bounds how long a worker is not looked for that could not be told.
	mostPause = time.Hour
)

// Owed are what a submitter owes workers. Make it with NewOwed.
type Owed struct {
	self  task.PeerID
	pages map[Page]*owed
}

type owed struct {
	given  map[string]task.Given
	issued int64
	since  time.Time     // since when something is there that the worker does not know; zero for nothing
	next   time.Time     // when it may be told
	pause  time.Duration // after the last time, which was in vain
}

// NewOwed returns a submitter's that owes nothing.
func NewOwed(self task.PeerID) *Owed { return &Owed{self: self, pages: map[Page]*owed{}} }

// Add notes what a worker gave to a project of this submitter. Its own work is no gift.
func (o *Owed) Add(overlay string, g task.Gift, now time.Time) {
	if g.Worker == o.self || g.Tasks == 0 && g.CPU == 0 && g.Fuel == 0 {
		return
	}
	p := o.page(Page{overlay, g.Worker, task.DayOf(now)})
	project := task.Printable(g.Project, task.MaxName)
	if _, known := p.given[project]; !known && len(p.given) >= task.MaxProjects-1 {
		project = "" // one is left for it
	}
	sum := p.given[project]
	sum.Project = project
	sum.Add(g.Given)
	p.given[project] = sum
	if p.since.IsZero() {
		p.since = now
	}
}

func (o *Owed) page(name Page) *owed {
	p := o.pages[name]
	if p == nil {
		o.makeRoom(name.Day)
		p = &owed{given: map[string]task.Given{}}
		o.pages[name] = p
	}
	return p
}

// makeRoom drops what is too old, and of too many pages those with the least work. So workers that did one short task
// each do not push out a worker that did more.
func (o *Owed) makeRoom(day int64) {
	if len(o.pages) < MostOwed {
		return
	}
	maps.DeleteFunc(o.pages, func(name Page, p *owed) bool {
		return name.Day < day-owedFor || name.Day < day && p.since.IsZero()
	})
	for len(o.pages) >= MostOwed {
		least := slices.MinFunc(slices.Collect(maps.Keys(o.pages)), func(a, b Page) int {
			return cmp.Or(cmp.Compare(o.pages[a].cpu(), o.pages[b].cpu()), comparePages(a, b))
		})
		delete(o.pages, least)
	}
}

// cpu returns the CPU time of a page.
func (p *owed) cpu() (sum time.Duration) {
	for _, g := range p.given {
		sum = addCPU(sum, max(0, g.CPU))
	}
	return sum
}

// Due returns at most so many thanks that workers are to hear now, those that wait for the longest time first.
// Each is to be answered by Told.
func (o *Owed) Due(now time.Time, most int) []*task.Thanks {
	var names []Page
	for name, p := range o.pages {
		if !p.since.IsZero() && !p.next.After(now) && name.Day >= task.DayOf(now)-owedFor {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b Page) int {
		return cmp.Or(o.pages[a].since.Compare(o.pages[b].since), comparePages(a, b))
	})
	var out []*task.Thanks
	for _, name := range names[:min(most, len(names))] {
		p := o.pages[name]
		p.issued = max(now.Unix(), p.issued+1)
		p.since, p.next = time.Time{}, now.Add(eachAtMost)
		out = append(out, o.thanks(name, p))
	}
	return out
}

func (o *Owed) thanks(name Page, p *owed) *task.Thanks {
	t := &task.Thanks{Overlay: name.Overlay, Submitter: o.self, Worker: name.Peer, Day: name.Day, Issued: p.issued}
	for _, project := range slices.Sorted(maps.Keys(p.given)) {
		t.Given = append(t.Given, p.given[project])
	}
	return t
}

// Told says whether a worker has heard thanks. Who has not hears them again, later each time.
func (o *Owed) Told(t *task.Thanks, heard bool, now time.Time) {
	p := o.pages[toWorker(t)]
	switch {
	case p == nil:
	case heard:
		p.pause = 0
	default:
		p.pause = min(max(2*p.pause, eachAtMost), mostPause)
		p.next = now.Add(p.pause)
		if p.since.IsZero() {
			p.since = now
		}
	}
}

// Unheard lists all that is owed and not said yet, as a node keeps it when it stops.
func (o *Owed) Unheard(now time.Time) []*task.Thanks {
	var out []*task.Thanks
	for _, name := range slices.SortedFunc(maps.Keys(o.pages), comparePages) {
		if p := o.pages[name]; !p.since.IsZero() {
			p.issued = max(now.Unix(), p.issued+1)
			out = append(out, o.thanks(name, p))
		}
	}
	return out
}

// Restore takes in what was kept of a page, and reports whether it is still of use; heard is as Told has it.
func (o *Owed) Restore(t *task.Thanks, heard bool, now time.Time) bool {
	if t.Submitter != o.self || t.Day < task.DayOf(now)-owedFor {
		return false
	}
	p := o.page(toWorker(t))
	if p.issued >= t.Issued {
		return true
	}
	clear(p.given)
	for _, g := range t.Given {
		p.given[g.Project] = g
	}
	if p.issued = t.Issued; !heard {
		p.since = now
	}
	return true
}
