package chunk

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// specs are policies with parameters that change what they do.
var specs = []string{
	"amrs:rounds=4", "amra:rounds=7", "samra:rounds=20", "samra:rounds=5,threshold=0.2,least=1", "ssse:peak=1,k=3,m=2.3",
	"ssse:peak=5,k=50,m=33,least=1",
	"ssse:adaptive=off", "issse", "issse:peak=1,k=5,m=3.3", "calibrated", "calibrated:reassess=on",
	"calibrated:fit=univariate", "calibrated:fit=multivariate,reassess=on", "one", "one:k=3",
	"static", "gss",
	"gss:least=3", "tss", "tss:first=40,last=4", "fsc", "fsc:ratio=0.01", "factoring", "factoring:cv=0.5",
	"factoring:cv=0", "wf", "awf", "awf:x=4",
	"paced", "paced:rate=0.5,longest=3", "mi", "mi:rounds=9,transfer=0.2", "umr", "umr:transfer=0.1,latency=2,start=0",
	"umr:rounds=7,latency=0", "mrrs", "mrrs:transfer=0.05,latency=1,start=2", "rumr", "rumr:error=0.7,latency=0",
	"rumr:error=1,start=0", "rumr:error=0",
}

// Every policy has a test.
func TestSpecsHaveAll(t *testing.T) {
	for _, name := range Names() {
		found := false
		for _, s := range specs {
			found = found || s == name || strings.HasPrefix(s, name+":")
		}
		if !found {
			t.Errorf("no specification of %s is tested", name)
		}
	}
}

// held is what one member has, in the test's own books.
type held struct {
	n      Node
	runs   int
	shared Node // who has the same runs, by a copy; none
}

// swarm drives a policy with whatever comes.
type swarm struct {
	*rapid.T
	p         Policy
	now       time.Time
	remaining int64
	done      int64
	here      []*held
}

func (s *swarm) of(n Node) *held {
	for _, h := range s.here {
		if h.n == n {
			return h
		}
	}
	return nil
}

func (s *swarm) join() {
	m := Member{Slots: rapid.IntRange(0, 16).Draw(s.T, "slots"), Cores: rapid.IntRange(0, 16).Draw(s.T, "cores"),
		Speed:     rapid.SampledFrom([]float64{0, 1, 0.001, 1e6, math.Inf(1), math.NaN(), -1}).Draw(s.T, "speed"),
		Available: rapid.SampledFrom([]float64{0, 0.25, 1, 7, math.NaN()}).Draw(s.T, "available"),
		Latency:   rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Hour, -1}).Draw(s.T, "latency")}
	n := s.p.Join(m)
	if s.of(n) != nil {
		s.Fatalf("node %d joins twice", n)
	}
	s.here = append(s.here, &held{n, 0, none})
}

func (s *swarm) out() (out int) {
	for _, h := range s.here {
		out += h.runs
	}
	return out
}

// ask asks for one who is idle, or would have more.
func (s *swarm) ask(h *held) {
	most := rapid.SampledFrom([]int{0, 0, 1, 7}).Draw(s.T, "most")
	got, why := s.p.Size(s.now, h.n, Ask{s.remaining, most})
	if got < 0 || int64(got) > s.remaining || most > 0 && got > most {
		s.Fatalf("%d runs of %d, at most %d", got, s.remaining, most)
	}
	if got == 0 && s.remaining > 0 && s.out() == 0 {
		s.Fatalf("node %d gets nothing, and nothing is out: all wait for ever (%v)", h.n, why)
	}
	if s.remaining > 0 && (why.String() == "" || strings.Contains(why.String(), "%!")) {
		s.Fatalf("reason %q", why)
	}
	h.runs += got
	s.remaining -= int64(got)
}

func (s *swarm) copy(h *held) {
	c, ok := s.p.(Copier)
	if !ok || h.runs > 0 || s.remaining > 0 {
		return
	}
	of, runs, _, ok := c.Copy(s.now, h.n)
	if !ok {
		return
	}
	o := s.of(of)
	if o == nil || o == h || o.runs != runs || runs == 0 || o.shared != none {
		s.Fatalf("a copy of %d runs of node %d, which has %+v", runs, of, o)
	}
	h.runs, h.shared, o.shared = runs, of, h.n
}

// end has a member do some of its runs, or all, or give them back undone.
func (s *swarm) end(h *held) {
	if h.runs == 0 {
		return
	}
	k := rapid.IntRange(1, h.runs).Draw(s.T, "runs")
	if rapid.Bool().Draw(s.T, "all") {
		k = h.runs
	}
	if h.shared == none && rapid.IntRange(0, 9).Draw(s.T, "back") == 0 {
		s.p.Back(s.now, h.n, k)
		h.runs -= k
		s.remaining += int64(k)
		return
	}
	took := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(s.T, "took"))
	s.p.Done(s.now, h.n, k, took)
	h.runs -= k
	s.done += int64(k)
	if h.shared != none {
		o := s.of(h.shared)
		s.p.Back(s.now, o.n, k)
		if o.runs -= k; o.runs == 0 {
			o.shared, h.shared = none, none
		}
	}
}

func (s *swarm) leave(i int) {
	h := s.here[i]
	s.p.Leave(h.n)
	if h.shared == none {
		s.remaining += int64(h.runs)
	} else {
		s.of(h.shared).shared = none
	}
	s.here = append(s.here[:i], s.here[i+1:]...)
}

// Whoever joins, leaves, and ends in whatever order, every run is done exactly once,
// nothing stands still, and no chunk is more than there is.
func TestEveryRunOnce(t *testing.T) {
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { everyRunOnce(t, spec) })
		})
	}
}

func everyRunOnce(t *rapid.T, spec string) {
	runs := rapid.Int64Range(1, 500).Draw(t, "runs")
	p, err := Parse(spec, Job{Runs: runs, Trials: rapid.IntRange(0, 20).Draw(t, "trials")})
	if err != nil {
		t.Fatal(err)
	}
	s := &swarm{T: t, p: p, now: at(0), remaining: runs}
	s.join()
	for range rapid.IntRange(1, 60).Draw(t, "events") {
		s.now = s.now.Add(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "pause")))
		k := rapid.IntRange(0, 9).Draw(t, "event")
		if len(s.here) == 0 {
			k = 0
		}
		i := 0
		if k > 0 {
			i = rapid.IntRange(0, len(s.here)-1).Draw(t, "member")
		}
		switch {
		case k == 0:
			s.join()
		case k == 1:
			s.leave(i)
		case k < 6:
			s.end(s.here[i])
		default:
			s.ask(s.here[i])
			s.copy(s.here[i])
		}
	}
	if len(s.here) == 0 {
		s.join()
	}
	// And then, with nobody else coming or going, to the end.
	for turns := int64(0); s.done < runs; turns++ {
		if turns > 3*runs+10 {
			t.Fatalf("%d of %d runs after %d turns", s.done, runs, turns)
		}
		for _, h := range s.here {
			if h.runs == 0 {
				s.ask(h)
				s.copy(h)
			}
		}
		for _, h := range s.here {
			s.end(h)
		}
	}
	if s.done != runs || s.remaining != 0 {
		t.Fatalf("%d done, %d remain, of %d", s.done, s.remaining, runs)
	}
}

// slow is Fig 3.4 as it is printed, with all members at each event, and the rules for
// those that come and go.
type slow struct {
	ratio, npp, weight map[Node]float64
}

func (s *slow) join(n Node, w float64) {
	all := 0.0
	for _, x := range s.weight {
		all += x
	}
	for k := range s.ratio {
		s.ratio[k] *= all / (all + w)
	}
	s.weight[n], s.ratio[n] = w, w/(all+w)
}

func (s *slow) leave(n Node) {
	rest := 1 - s.ratio[n]
	delete(s.ratio, n)
	delete(s.npp, n)
	delete(s.weight, n)
	for k := range s.ratio {
		s.ratio[k] /= rest
	}
}

func (s *slow) update() {
	power, mass := 0.0, 0.0
	for n, p := range s.npp {
		power += p
		mass += s.ratio[n]
	}
	for n, p := range s.npp {
		s.ratio[n] = s.ratio[n]/2 + mass*p/power/2
	}
}

// The ratios that are brought up to date when somebody looks are those of all members
// brought up to date at each event.
func TestLazyRatios(t *testing.T) { rapid.Check(t, lazyRatios) }

func lazyRatios(t *rapid.T) {
	l := &learner{pool: pool{job: Job{Runs: 1e6, Trials: 1}}}
	s := &slow{map[Node]float64{}, map[Node]float64{}, map[Node]float64{}}
	var here []Node
	left := 1.0 // of all shares, by what those that went had
	for range rapid.IntRange(1, 200).Draw(t, "events") {
		k := rapid.IntRange(0, 19).Draw(t, "event")
		switch {
		case k < 2 || len(here) == 0:
			cores := rapid.IntRange(1, 16).Draw(t, "cores")
			n := l.Join(Member{Cores: cores})
			s.join(n, float64(cores))
			here = append(here, n)
		case k == 2 && len(here) > 1:
			i := rapid.IntRange(0, len(here)-1).Draw(t, "member")
			// What goes has its share divided among the others, and their rounding errors grow by
			// as much: beyond a thousand times, in all, what is left is rounding.
			if left*(1-s.ratio[here[i]]) < 1e-3 {
				continue
			}
			left *= 1 - s.ratio[here[i]]
			l.Leave(here[i])
			s.leave(here[i])
			here = append(here[:i], here[i+1:]...)
		default:
			for range rapid.IntRange(1, 3).Draw(t, "at once") {
				n := here[rapid.IntRange(0, len(here)-1).Draw(t, "member")]
				runs := rapid.IntRange(1, 100).Draw(t, "runs")
				took := time.Duration(rapid.Int64Range(1e6, 1e12).Draw(t, "took"))
				l.give(at(0), n, int64(runs), Ask{Remaining: 1e6})
				l.Done(at(0), n, runs, took)
				s.npp[n] = float64(runs) / took.Seconds()
			}
			l.update()
			s.update()
		}
		if rapid.Bool().Draw(t, "look") {
			n := here[rapid.IntRange(0, len(here)-1).Draw(t, "member")]
			l.ratio(l.at(n))
		}
	}
	near := max(1e-9, 1e-11/left) // rounding, as much larger as shares grew
	sum := 0.0
	for _, n := range here {
		got, want := l.ratio(l.at(n)), s.ratio[n]
		sum += got
		if math.Abs(got-want) > near {
			t.Errorf("ratio of %d: %v, want %v", n, got, want)
		}
	}
	if math.Abs(sum-1) > near {
		t.Errorf("ratios sum to %v", sum)
	}
}
