package message

// A Grid is a job's tasks by state, in bins of consecutive indices: so many, whatever the job's size.
type Grid struct {
	Total  uint64 `json:"total"`   // tasks
	PerBin uint64 `json:"per_bin"` // of the last bin there may be fewer
	Bins   []Bin  `json:"bins"`
	// Unplaced are tasks that failed of which nobody knows any more which they are; they are counted as
	// done in their bins.
	Unplaced uint64 `json:"unplaced,omitempty"`
}

// A Bin counts tasks by state.
type Bin struct {
	Waiting uint64 `json:"waiting"`
	Running uint64 `json:"running"`
	Done    uint64 `json:"done"`
	Failed  uint64 `json:"failed"`
	Lent    uint64 `json:"lent,omitempty"` // that other cells have
}

// MaxBins bounds the bins of a grid.
const MaxBins = 2000

// NewGrid returns the grid of a job of so many tasks that all wait, in at most so many bins.
func NewGrid(total uint64, bins int) *Grid {
	n := uint64(max(1, min(bins, MaxBins)))
	g := &Grid{Total: total, PerBin: max(1, total/n)}
	if g.PerBin*n < total {
		g.PerBin++
	}
	g.Bins = make([]Bin, (total+g.PerBin-1)/g.PerBin)
	for i := range g.Bins {
		g.Bins[i].Waiting = min(g.PerBin, total-uint64(i)*g.PerBin)
	}
	return g
}

// The states that tasks are moved to in a grid.
func binRunning(b *Bin) *uint64 { return &b.Running }
func binDone(b *Bin) *uint64    { return &b.Done }
func binFailed(b *Bin) *uint64  { return &b.Failed }
func binLent(b *Bin) *uint64    { return &b.Lent }

func binWaiting(b *Bin) *uint64 { return &b.Waiting }

// Run counts task i, which waited, as running. What is beyond the job is left out, here and below.
func (g *Grid) Run(i uint64) { g.move(Range{From: i, To: i + 1}, binRunning) }

// Do counts tasks, which waited, as done.
func (g *Grid) Do(r Range) { g.move(r, binDone) }

// Fail counts tasks, which waited, as failed.
func (g *Grid) Fail(r Range) { g.move(r, binFailed) }

// Lend counts tasks, which are counted as done since another cell is to run them, as lent.
func (g *Grid) Lend(r Range) { g.shift(r, binDone, binLent) }

// FailRest counts all that wait as failed: of a job that is over.
func (g *Grid) FailRest() {
	for i := range g.Bins {
		b := &g.Bins[i]
		b.Failed, b.Waiting = b.Failed+b.Waiting, 0
	}
}

// Missed counts a task as failed that is counted as done.
func (g *Grid) Missed(i uint64) {
	if i >= g.Total {
		return
	}
	if b := &g.Bins[i/g.PerBin]; b.Done > 0 {
		b.Done, b.Failed = b.Done-1, b.Failed+1
	}
}

func (g *Grid) move(r Range, to func(*Bin) *uint64) { g.shift(r, binWaiting, to) }

func (g *Grid) shift(r Range, of, to func(*Bin) *uint64) {
	for from := r.From; from < min(r.To, g.Total); {
		k := from / g.PerBin
		end := min(r.To, g.Total, (k+1)*g.PerBin)
		b := &g.Bins[k]
		n := min(end-from, *of(b))
		*of(b) -= n
		*to(b) += n
		from = end
	}
}

// Fits reports whether a grid that another node sent is one of at most so many bins.
func (g *Grid) Fits(bins int) bool {
	if g.PerBin == 0 || len(g.Bins) > min(bins, MaxBins) || uint64(len(g.Bins)) != (g.Total+g.PerBin-1)/g.PerBin {
		return false
	}
	for i := range g.Bins {
		b := &g.Bins[i]
		if most := g.PerBin; b.Waiting > most || b.Running > most || b.Done > most || b.Failed > most ||
			b.Lent > most || b.Waiting+b.Running+b.Done+b.Failed+b.Lent > most {
			return false
		}
	}
	return true
}
