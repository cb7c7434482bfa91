package place

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// imposed are Rates of one number each: rates by class and member, all in order.
type imposed struct {
	version uint64
	classes []Class
	peers   []task.PeerID
	mu      map[string][]float64
	a       []float64 // nil is 1
	backlog map[task.PeerID]float64
}

func (r *imposed) Version() uint64               { return r.version }
func (r *imposed) Classes() []Class              { return r.classes }
func (r *imposed) Peers() []task.PeerID          { return r.peers }
func (r *imposed) Backlog(p task.PeerID) float64 { return r.backlog[p] }
func (r *imposed) Of(class string, p task.PeerID) float64 {
	if row := r.mu[class]; row != nil {
		return row[slices.Index(r.peers, p)]
	}
	return 0
}

func (r *imposed) Capacity(p task.PeerID) float64 {
	if r.a == nil {
		return 1
	}
	return r.a[slices.Index(r.peers, p)]
}

// byClass is a queue of classes.
type byClass struct {
	list
	of map[string][]Task
}

func (q *byClass) Waiting(names []string) []string {
	for _, c := range []string{"1", "2", "3", "4"} {
		if len(q.of[c]) > 0 {
			names = append(names, c)
		}
	}
	return names
}

func (q *byClass) NextOf(class string) (Task, bool) {
	ts := q.of[class]
	if len(ts) == 0 {
		return Task{}, false
	}
	q.of[class] = ts[1:]
	return ts[0], true
}

// ofClass makes tasks of a class that came so many seconds before now.
func ofClass(class string, ages ...float64) (out []Task) {
	for i, a := range ages {
		t := tasks("c"+class, i+1, nil)[i]
		t.Class, t.Age = class, time.Duration(a*float64(time.Second))
		out = append(out, t)
	}
	return out
}

var noon = time.Date(2008, 8, 28, 12, 0, 0, 0, time.UTC)

// place shows tasks as a plain queue and as one of classes, which must come to the
// same.
func placeClasses(t *testing.T, spec string, r Rates, hosts []Host, ts ...[]Task) string {
	t.Helper()
	run := func(q Queue) string {
		p, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		if rate := p.Traits().Rate; rate != nil && r != nil {
			rate(noon, r)
		}
		return placed(p.Place(noon, q, slices.Clone(hosts), Unknown{}, rand.New(rand.NewPCG(1, 1))))
	}
	all := slices.Concat(ts...)
	of := map[string][]Task{}
	for _, w := range all {
		of[w.Class] = append(of[w.Class], w)
	}
	plain := run(&list{tasks: all})
	if classes := run(&byClass{list{tasks: all}, of}); classes != plain {
		t.Errorf("%s: a queue of classes gives %s, a plain one %s", spec, classes, plain)
	}
	return plain
}

// idle is members that are idle, those first named for longest.
func idle(names ...string) (out []Host) {
	for i, n := range names {
		h := member(n, 1, 1, 1)
		h.IdleFor = time.Duration(100-i) * time.Second
		out = append(out, h)
	}
	return out
}

// The illustration of Gc-mu (Kokaly 2008, section 4.4.5) and the allocation for the
// same system: with equal ages both machines take class 2 under Gc-mu, and machine 2
// takes class 1 only if its age is more than five times that of class 2; under
// LPAS_DG machine 1 never takes class 2.
func TestGcMuAndLPAS(t *testing.T) {
	r := &imposed{
		classes: []Class{{"1", 1}, {"2", 1.5}}, peers: []task.PeerID{"m1", "m2"},
		mu: map[string][]float64{"1": {2, 2}, "2": {2.1, 10}},
	}
	for _, tt := range []struct {
		spec  string
		hosts []Host
		tasks [][]Task
		want  string
	}{
		{"gcmu", idle("m1"), [][]Task{ofClass("1", 3), ofClass("2", 3)}, "c2/0:m1"},
		{"gcmu", idle("m2"), [][]Task{ofClass("1", 3), ofClass("2", 3)}, "c2/0:m2"},
		{"gcmu", idle("m2"), [][]Task{ofClass("1", 5), ofClass("2", 1)}, "c1/0:m2"}, // equal: the first
		{"gcmu", idle("m2"), [][]Task{ofClass("1", 4.9), ofClass("2", 1)}, "c2/0:m2"},
		{"gcmu", idle("m2", "m1"), [][]Task{ofClass("1", 3), ofClass("2", 3)}, "c2/0:m2 c1/0:m1"},
		{"gcmu", idle("m1", "m2"), [][]Task{ofClass("1", 3), ofClass("2", 3, 2)}, "c2/0:m1 c2/1:m2"},
		{"gcmu", idle("m1"), [][]Task{ofClass("1", 0), ofClass("2", 0)}, "c1/0:m1"}, // just come: the first
		{"lpas", idle("m1"), [][]Task{ofClass("1", 3), ofClass("2", 3)}, "c1/0:m1"},
		{"lpas", idle("m1"), [][]Task{ofClass("2", 3, 2)}, ""},
		{"lpas", idle("m1", "m2"), [][]Task{ofClass("2", 3, 2)}, "c2/0:m2"}, // who may not is passed by
		{"lpas", idle("m1", "m2"), [][]Task{ofClass("1", 3), ofClass("2", 3)}, "c1/0:m1 c2/0:m2"},
		{"lpas:server=fastest", idle("m1", "m2"), [][]Task{ofClass("1", 3), ofClass("2", 3)}, "c2/0:m2 c1/0:m1"},
		{"lpas", idle("m1"), [][]Task{ofClass("3", 3)}, ""}, // no member executes it
		{"fcfs:order=idle", idle("m2", "m1"), [][]Task{ofClass("1", 3), ofClass("2", 4)}, "c1/0:m2 c2/0:m1"},
	} {
		if got := placeClasses(t, tt.spec, r, tt.hosts, tt.tasks...); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.spec, got, tt.want)
		}
	}
	// Before rates are told nothing is ruled out.
	if got := placeClasses(t, "lpas", nil, idle("m1"), ofClass("2", 3)); got != "c2/0:m1" {
		t.Errorf("without rates: got %q", got)
	}
}

// LPAS solves again when a member goes, not when availability changes, unless that
// is asked for; and says when members that got nothing may get something.
func TestLPASSolvesAgain(t *testing.T) {
	r := &imposed{
		classes: []Class{{"1", 2}, {"2", 1.5}}, peers: []task.PeerID{"m1", "m2"},
		mu: map[string][]float64{"1": {9, 5}, "2": {2, 1}}, a: []float64{1, 1},
	}
	parts := func(p *LPAS) string {
		var out []string
		for _, peer := range []task.PeerID{"m1", "m2"} {
			of := ""
			for i, c := range r.classes {
				if p.may(&Host{Peer: peer})>>i&1 == 1 {
					of += c.Name
				}
			}
			out = append(out, of)
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct {
		spec   string
		change func()
		after  time.Duration
		anew   bool
		want   string
	}{
		{"lpas", func() { r.a[1] = .5 }, time.Hour, false, "2 12"},
		{"lpas:resolve=10m", func() { r.a[1] = .5 }, 9 * time.Minute, false, "2 12"},
		{"lpas:resolve=10m", func() { r.a[1] = .5 }, 10 * time.Minute, true, "12 1"},
		{"lpas", func() { r.a[1], r.version = 0, r.version+1 }, 0, true, "12 "},
		{"lpas:arrivals=0.5", func() { r.classes[0].Arrival = 20 }, 59 * time.Second, false, "2 12"},
		{"lpas:arrivals=0.5", func() { r.classes[0].Arrival = 20 }, time.Minute, true, "12 1"},
		{"lpas:arrivals=0.5", func() { r.classes[0].Arrival = 2.9 }, time.Minute, false, "2 12"},
		{"lpas:rates=0.2,check=5m", func() { r.mu["2"][0] = 30 }, 5 * time.Minute, true, "12 1"},
		{"lpas:rates=0.2", func() { r.mu["2"][0] = 2.3 }, time.Hour, false, "2 12"},
	} {
		r.classes[0].Arrival, r.mu["2"][0], r.a[1] = 2, 2, 1
		policy, err := Parse(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		p := policy.(*LPAS)
		if !p.rate(noon, r) || parts(p) != "2 12" {
			t.Fatalf("%s: parts are %s at first", tt.spec, parts(p))
		}
		tt.change()
		if anew := p.rate(noon.Add(tt.after), r); anew != tt.anew || parts(p) != tt.want {
			t.Errorf("%s: anew %v, parts %q, want %v, %q", tt.spec, anew, parts(p), tt.anew, tt.want)
		}
	}
}

// Equation 8.1: at 20 a time unit of 180 s, four seconds of delay leave 9/13.
func TestDelayDiscount(t *testing.T) {
	p, err := Parse("lpas:tau=4s")
	if err != nil {
		t.Fatal(err)
	}
	mu := 20. / 180
	r := &imposed{classes: []Class{{"1", 1}}, peers: []task.PeerID{"m"}, mu: map[string][]float64{"1": {mu}}}
	if got := p.(*LPAS).rateOf(r, "1", "m") / mu; got < .6923-1e-4 || got > .6923+1e-4 {
		t.Errorf("the discount is %v, want 9/13", got)
	}
}

// Kokaly 2008, sections 4.4.2 to 4.4.4: with rates 5 and 3, MET gives all to machine
// 1; MCT the second job to machine 2; and KPB is either at its ends.
func TestPush(t *testing.T) {
	r := &imposed{classes: []Class{{"1", 6}}, peers: []task.PeerID{"m1", "m2"},
		mu: map[string][]float64{"1": {5, 3}, "2": {1, 1}}, backlog: map[task.PeerID]float64{}}
	hosts := []Host{member("m1", 1, 9, 1), member("m2", 1, 9, 1)}
	for _, tt := range []struct{ spec, want string }{
		{"met", "c1/0:m1 c1/1:m1 c1/2:m1"},
		{"mct", "c1/0:m1 c1/1:m2 c1/2:m1"}, // .2; .4 or .333; .4 or .667
		{"kpb:k=100", "c1/0:m1 c1/1:m2 c1/2:m1"},
		{"kpb:k=50", "c1/0:m1 c1/1:m1 c1/2:m1"},
		{"kpb:k=51", "c1/0:m1 c1/1:m2 c1/2:m1"},
	} {
		if got := placeClasses(t, tt.spec, r, hosts, ofClass("1", 3, 2, 1)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.spec, got, tt.want)
		}
	}
	r.backlog["m1"] = 1
	if got := placeClasses(t, "mct", r, hosts, ofClass("1", 1)); got != "c1/0:m2" {
		t.Errorf("behind a second of work: got %q", got)
	}
	delete(r.backlog, "m1")
	r.mu["1"] = []float64{5, 4.8}
	if got := placeClasses(t, "met", r, hosts, ofClass("1", 3, 2, 1)); got != "c1/0:m1 c1/1:m2 c1/2:m1" {
		t.Errorf("with equally fast members: got %q", got)
	}
	r.mu["1"] = []float64{5, 4.7}
	if got := placeClasses(t, "met", r, hosts, ofClass("1", 3, 2, 1)); got != "c1/0:m1 c1/1:m1 c1/2:m1" {
		t.Errorf("with a slower member: got %q", got)
	}
	full := []Host{hosts[1]}
	if got := placeClasses(t, "met", r, full, ofClass("1", 1)); got != "" {
		t.Errorf("while the best has no room: got %q", got)
	}
	avoid := ofClass("1", 1)
	avoid[0].Avoid = []task.PeerID{"m1"}
	if got := placeClasses(t, "met", r, full, avoid); got != "c1/0:m2" {
		t.Errorf("where the best must not: got %q", got)
	}
}

// Fig. B.8 of Kokaly 2008: jobs go to the machines 1 to 21 in order, then to each in
// the order in which they became idle.
func TestLongestIdle(t *testing.T) {
	order := []string{"m03", "m07", "m02", "m10", "m09"}
	for _, spec := range []string{"fcfs:order=idle", "gcmu"} {
		got := placeClasses(t, spec, nil, slices.Concat(idle(order...)), ofClass("1", 9, 8, 7, 6, 5))
		if want := "c1/0:m03 c1/1:m07 c1/2:m02 c1/3:m10 c1/4:m09"; got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

// What others say of rates rules nothing out that a policy promises.
func TestHostileRates(t *testing.T) {
	specs := []string{"gcmu", "lpas", "lpas:server=fastest,arrivals=0.1,rates=0.1", "met", "mct", "kpb:k=50",
		"fcfs:order=idle"}
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, -1, 1e300, 1e-300}))
	rapid.Check(t, func(t *rapid.T) {
		r := &imposed{peers: []task.PeerID{"a", "b", "c", "d"}, mu: map[string][]float64{},
			backlog: map[task.PeerID]float64{"a": number.Draw(t, "backlog")}}
		for _, c := range []string{"", "x", "y"} {
			r.classes = append(r.classes, Class{c, number.Draw(t, "alpha")})
			r.mu[c] = rapid.SliceOfN(number, 4, 4).Draw(t, "mu")
		}
		r.a = rapid.SliceOfN(number, 4, 4).Draw(t, "a")
		p, _ := Parse(rapid.SampledFrom(specs).Draw(t, "spec"))
		p.Traits().Rate(time.Time{}, r)
		checkRules(t, p, time.Time{}, false)
		r.version++
		p.Traits().Rate(time.Time{}.Add(time.Hour), r)
		checkRules(t, p, time.Time{}.Add(time.Hour), false)
	})
}
