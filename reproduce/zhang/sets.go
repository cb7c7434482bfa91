package zhang

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// A set is hosts of one of the thesis's desktop grids, or hosts like them.
type set struct {
	name     string       // UCB, SDSC, LRI, DEUG
	watched  *trace.Trace // with Unobserved spells where nobody looked
	hosts    *trace.Trace // the same, taken for unavailable there (docs/spec/zhang.md section 10, question 8)
	original bool         // supplied, not made
	job      *jobLength   // length of a job; nil is jobSize
}

// together is what cells about all sets at once call them.
func together(sets []*set) *set {
	out := &set{name: "all sets", original: true}
	for _, s := range sets {
		if !s.original {
			out.name = "all -like sets"
		}
	}
	return out
}

// label is what a cell calls the set.
func (s *set) label() string {
	if s.original || s.watched == nil {
		return s.name
	}
	return s.name + "-like"
}

// set returns the original of that name if there is one, else makes one like it;
// zeros of c are the published sizes.
func (b *bench) set(name string, c trace.SynthConfig) (*set, error) {
	t, original := b.Traces[name]
	if !original {
		var err error
		if t, err = trace.Synthesize(name, c); err != nil {
			return nil, err
		}
	}
	s := &set{name: strings.ToUpper(name), watched: t, hosts: t.Assume(trace.Unavailable), original: original}
	if original && t.Synthetic != "" {
		return nil, fmt.Errorf("%s is synthetic (%s): it cannot stand for the original %s", t.Name, t.Synthetic, s.name)
	}
	return s, nil
}

// sizes describes a set in a line.
func (s *set) sizes() string {
	if s.original {
		return fmt.Sprintf("%s: %s as supplied, %d hosts, %d days", s.name, s.hosts.Name, len(s.hosts.Hosts),
			s.watched.Days())
	}
	return fmt.Sprintf("%s: synthetic, %s", s.label(), s.hosts.Synthetic)
}

// shut is for how much of each day nobody watched.
func (s *set) shut() time.Duration { return reproduce.Day - s.watched.Window.Length() }

// scenario is a run on the set: a job always waits, for one job a minute would
// not keep the hosts busy and the thesis says that they are (sections 7.2.2,
// 7.2.4); lost jobs go back into the queue; the first day is not reported (Table
// 7-1).
func (s *set) scenario(placement string, seed uint64) *sim.Scenario {
	takes := jobSize
	if s.job != nil {
		takes = s.job.takes
	}
	c := saturated(s.hosts, placement, takes)
	c.Start, c.End = s.hosts.Start, s.hosts.End
	c.Warmup, c.Seed = reproduce.Day, seed
	return c
}

// jobSize of Table 7-1.
const jobSize = 10 * time.Minute

// A jobLength is the time for which a job occupies a host of a set in E1 to E3. The thesis
// measures jobs in CPU cycles (section 7.1.1), and neither their number nor the hosts'
// speeds are to be had, so the length is fitted in whole minutes to one published count,
// the mark. Other counts are judged by it.
type jobLength struct {
	takes time.Duration
	where string // experiment of the mark
	mark  string // cell of the mark, without the set
}

// jobLengths are fitted with seed 1, to means over the sets of E1 and E2, and over the runs
// of E3.
var jobLengths = map[string]*jobLength{
	"UCB":  {46 * time.Minute, "E2", "A, T = 0 %"},
	"DEUG": {64 * time.Minute, "E1", "A, N = 1"},
	"SDSC": {18 * time.Minute, "E3", "A, equal"},
	"LRI":  {23 * time.Minute, "E3", "A, equal"},
}

// fitted returns the set with its fitted length of jobs.
func (s *set) fitted() *set {
	out := *s
	out.job = jobLengths[s.name]
	return &out
}

// String names the length and the mark.
func (j *jobLength) String() string {
	return fmt.Sprintf("%.0f min, fitted to %s of %s", j.takes.Minutes(), j.mark, j.where)
}

// A claim is a published statement about directions that goes with a number:
// numbers of a "-like" set are not those of the original, and only the statement
// can be judged.
type claim struct {
	holds bool
	says  string // "A falls as N rises"
	why   string // where it does not hold: what was measured that explains it
}

// closeTo is how far an original trace's number may be from the published one to
// be called Within: what the thesis leaves open (the polling period, which jobs
// come when) moves counts by a few percent.
const closeTo = 0.05

// count judges a number of jobs by the fitted length of a job, of a set like the original.
// why is the measured reason if the number is off.
func (b *bench) count(s *set, cell string, published, obtained float64, format string, c claim, why string) {
	if s.job == nil || s.original {
		b.number(s, cell, published, obtained, format, c)
		return
	}
	b.byLength(s, cell, write(format, published), write(format, obtained),
		math.Abs(obtained-published) <= closeTo*math.Abs(published), fmt.Sprintf("within %.0f %%", 100*closeTo), why)
}

// number judges a number.
func (b *bench) number(s *set, cell string, published, obtained float64, format string, c claim) {
	cell = s.label() + ": " + cell
	p, o := write(format, published), write(format, obtained)
	switch off := math.Abs(obtained - published); {
	case s.original && p == o:
		b.Add(reproduce.Equal, cell, p, o, "original trace as supplied")
	case s.original && off <= closeTo*math.Abs(published):
		b.Add(reproduce.Within, cell, p, o, fmt.Sprintf("original trace as supplied; within %.0f %%", 100*closeTo))
	case c.holds && s.original:
		b.Add(reproduce.Direction, cell, p, o, "original trace as supplied; the number is further off, but "+c.says)
	case c.holds:
		b.Add(reproduce.Direction, cell, p, o, "synthetic hosts: the number is not judged; "+c.says)
	default:
		b.Add(reproduce.Differs, cell, p, o, c.why)
	}
}

// byLength judges a number by whether it is near the published one, with jobs of a fitted
// length. within describes the limit, and why is the reason if the number is beyond it.
func (b *bench) byLength(s *set, cell, published, obtained string, near bool, within, why string) {
	v := reproduce.Within
	note := fmt.Sprintf("%s; synthetic hosts; a job takes %v", within, s.job)
	isMark := cell == s.job.mark
	switch {
	case !near && isMark:
		v, note = reproduce.Differs, fmt.Sprintf("the length of jobs, %v, is fitted with seed 1; these hosts are "+
			"others", s.job)
	case !near:
		v, note = reproduce.Differs, why
	case isMark:
		v = reproduce.Fitted
	}
	b.Add(v, s.label()+": "+cell, published, obtained, note)
}

// statement judges a direction alone.
func (b *bench) statement(s *set, cell, published, obtained string, c claim) {
	note := c.says
	if !s.original {
		note = strings.TrimPrefix(note+"; synthetic hosts", "; ")
	}
	b.Trend(s.label()+": "+cell, published, obtained, c.holds, note, c.why)
}

func write(format string, x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "N/A"
	}
	return fmt.Sprintf(format, x)
}

// list writes numbers with the format of one.
func list(format string, xs []float64) string {
	var out []string
	for _, x := range xs {
		out = append(out, write(format, x))
	}
	return strings.Join(out, " ")
}

// falls says whether numbers never rise from one to the next, and fall in all.
func falls(xs []float64) bool {
	for i := 1; i < len(xs); i++ {
		if !(xs[i] <= xs[i-1]) {
			return false
		}
	}
	return len(xs) > 1 && xs[len(xs)-1] < xs[0]
}

// rises is the opposite of falls.
func rises(xs []float64) bool {
	back := make([]float64, len(xs))
	for i, x := range xs {
		back[len(xs)-1-i] = x
	}
	return falls(back)
}

// rate is S/(S+F) in percent, NaN where nothing ended.
func rate(s, f float64) float64 { return 100 * s / (s + f) }

// draw returns so many hosts of the set by chance, with its first days.
func (s *set) draw(hosts, days int, seed uint64) *set {
	order := rand.New(rand.NewPCG(seed, drawStream)).Perm(len(s.hosts.Hosts))
	out := *s
	pick := func(t *trace.Trace) *trace.Trace {
		c := *t
		c.Hosts = nil
		for _, i := range order[:min(hosts, len(order))] {
			c.Hosts = append(c.Hosts, t.Hosts[i])
		}
		if end := c.Start.Add(time.Duration(days)*reproduce.Day - s.shut()); end.Before(c.End) {
			c.End = end
		}
		return &c
	}
	out.watched, out.hosts = pick(s.watched), pick(s.hosts)
	return &out
}

// drawStream keeps the drawing of hosts apart from other uses of a seed.
const drawStream = 0x647261772d686f73 // "draw-hos"
