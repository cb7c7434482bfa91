package submitter

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/task"
)

// What this node tells other submitters: a tally of its own, and results that it found right.

const (
	// leastTold is below how many tasks nothing is told of a worker.
	leastTold = .1
	// mostRefusedTold is how many refused workers a tally names at most, of those that it can.
	mostRefusedTold = 16
	// shownFor is for how long a result is shown after it was found right, and the program and the
	// inputs of its job are kept for that.
	shownFor = 24 * time.Hour
	// Larger, or longer, results are not shown: whoever asks would not run them again.
	mostShownBytes  = 48 << 10 // record and result
	mostShownInputs = 64 << 20
	mostShownWall   = 5 * time.Minute
)

// Tallies are what a submitter and others tell each other of workers. It is used as the Submitter is.
type Tallies struct{ h *hearsay }

// TalliesOf returns those of a submitter.
func TalliesOf(s *Submitter) Tallies { return Tallies{&s.audits.heard} }

// showing are results that were found right here, by the name that tallies have for them.
type showing struct {
	newest []shownResult // the newest last, at most task.MaxTallyShown
	// offered are those of the last tally, and before of the one before it: who draws one has
	// a while to ask for it.
	offered, before []shownResult
}

type shownResult struct {
	name [32]byte
	task task.TaskID
	at   time.Time
}

// noteShown keeps at hand a result that was found right, if others can run its task.
func (h *hearsay) noteShown(j *submitted, r *task.Result) {
	var inputs int64
	for i := range j.spec.Inputs {
		inputs += j.spec.Inputs[i].Size
	}
	if inputs > mostShownInputs || r.Wall > mostShownWall ||
		len(j.record.Job)+message.ResultBytes(r) > mostShownBytes {
		return
	}
	h.shown.newest = append(h.shown.newest, shownResult{task.TallyName(r), r.Task, h.a.s.now})
	h.shown.newest = h.shown.newest[max(0, len(h.shown.newest)-task.MaxTallyShown):]
}

// all calls f for every result that is shown, until it returns true.
func (h *hearsay) all(f func(shownResult) bool) bool {
	isShown := func(r shownResult) bool { return h.mayShow(r) && f(r) }
	s := &h.shown
	return slices.ContainsFunc(s.newest, isShown) || slices.ContainsFunc(s.offered, isShown) ||
		slices.ContainsFunc(s.before, isShown)
}

func (h *hearsay) mayShow(r shownResult) bool {
	j := h.a.s.jobs[r.task.Job]
	return j != nil && len(j.spec.Sealed) == 0 && h.a.s.now.Sub(r.at) < shownFor
}

// showsOf reports whether results of a job are shown: then others need its program and its inputs.
func (h *hearsay) showsOf(id task.JobID) bool {
	return h.all(func(r shownResult) bool { return r.task.Job == id })
}

// Shows returns the task whose result a tally of this node offers by a name. The result is the first
// that is held under its ResultKey.
func (t Tallies) Shows(name [32]byte) (id task.TaskID, shows bool) {
	shows = t.h.all(func(r shownResult) bool { id = r.task; return r.name == name })
	return id, shows
}

// Make says what this node found right of workers of the overlay itself, and which it refuses; nil
// where that is nothing. The results that it offers are shown until two more tallies were made.
func (t Tallies) Make(overlay string) *task.Tally {
	h := t.h
	out := &task.Tally{Overlay: overlay, Teller: h.a.s.self, Issued: h.a.s.now.Unix(), Rows: h.a.tallyRows()}
	if len(out.Rows) == 0 {
		return nil
	}
	h.shown.before, h.shown.offered = h.shown.offered, slices.Clone(h.shown.newest)
	for _, r := range h.shown.offered {
		if h.mayShow(r) {
			out.Shown = append(out.Shown, r.name[:])
		}
	}
	return out
}

// tallyRows are what is known of workers here, those known best where there are too many.
func (a *audits) tallyRows() []task.TallyRow {
	var right, refused []task.TallyRow
	proofs := len(a.s.FoundWrong(1, false)) > 0
	for worker, c := range a.credits {
		known := c.Right(a.s.now)
		switch {
		case worker == a.s.self:
		case c.Faults > 0 && proofs:
			refused = append(refused, task.TallyRow{Worker: worker, Refused: true})
		case c.Faults == 0 && known >= leastTold:
			right = append(right, task.TallyRow{Worker: worker, Right: task.Tallied(known)})
		}
	}
	byName := func(x, y task.TallyRow) int { return strings.Compare(string(x.Worker), string(y.Worker)) }
	slices.SortFunc(refused, byName)
	slices.SortFunc(right, func(x, y task.TallyRow) int { return cmp.Or(cmp.Compare(y.Right, x.Right), byName(x, y)) })
	rows := append(refused[:min(len(refused), mostRefusedTold)], right...)
	rows = rows[:min(len(rows), task.MaxTallyRows)]
	slices.SortFunc(rows, byName)
	return rows
}

// heardOf tells for how many workers of accepted results of a job others' tallies count; nil for none.
func (a *audits) heardOf(c *checks) *message.Heard {
	if len(a.heard.about) == 0 {
		return nil
	}
	var out message.Heard
	tellers := map[task.PeerID]bool{}
	for _, worker := range slices.Sorted(maps.Keys(c.by)) {
		if len(a.heard.about[worker]) == 0 || c.by[worker].tasks.Count() == 0 {
			continue
		}
		credit := a.known(worker)
		told := a.heard.believed(worker, credit) - credit.Believed(a.s.now)
		if !(told > 0) {
			continue
		}
		out.Workers++
		out.Own += credit.Right(a.s.now)
		out.Told += told
		for _, said := range a.heard.about[worker] {
			if a.heard.weight(said.teller) > 0 {
				tellers[said.teller] = true
			}
		}
	}
	if out.Workers == 0 {
		return nil
	}
	out.Tellers = len(tellers)
	return &out
}

// seconds is so many of them, as far as a duration goes.
func seconds(n int64) time.Duration {
	return time.Duration(min(n, int64(100*credibility.HalfLife/time.Second))) * time.Second
}
