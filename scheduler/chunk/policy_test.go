package chunk

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, problem string }{
		{"", ""}, {"issse:peak=2,k=15,m=10.5", ""}, {"amra:rounds=3", ""},
		{"best", "use one of amra, amrs, awf"}, {"amra:k=3", "use one of rounds"}, {"gss:least=0", "from 1"},
		{"ssse:peak=0", "from 1"}, {"issse:m=NaN", "a number"}, {"calibrated:reassess=yes", "off, on"}, {"amra:rounds", "NAME=VALUE"},
	} {
		err := Check(tt.in)
		if tt.problem == "" && err != nil || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%q: %v, want %q", tt.in, err, tt.problem)
		}
	}
	if _, err := Parse("one", Job{}); err == nil {
		t.Error("a job of no runs has a policy")
	}
}

func TestDescribe(t *testing.T) {
	for _, name := range Names() {
		if !strings.Contains(Describe(), name+":") {
			t.Errorf("%s is not described", name)
		}
	}
}

// The case that section 3.3.3 assumes: B has 3 runs from 25 to 45 s, C is idle at 30 and
// would end them at 38 s. It gets a copy, which is not copied again.
func TestCopy(t *testing.T) {
	p, err := Parse("issse:peak=1,k=3,m=2.3", Job{Runs: 60, Trials: 10})
	if err != nil {
		t.Fatal(err)
	}
	c := p.(*issse)
	const b, cc, d, e = 0, 1, 2, 3
	for _, m := range []struct {
		slots   int
		seconds float64 // of a run
	}{{4, 20. / 3}, {4, 8. / 3}, {1, 10}, {4, 2}} {
		n := p.Join(Member{Slots: m.slots})
		p.Size(at(0), n, Ask{1, 1})
		p.Done(at(m.seconds), n, 1, time.Duration(m.seconds*1e9))
	}
	// B holds 3 of 3; D 1 from 29 to 39.
	c.give(at(25), b, 3, Ask{Remaining: 4})
	c.give(at(29), d, 1, Ask{Remaining: 1})
	of, runs, why, ok := c.Copy(at(30), cc)
	if !ok || of != b || runs != 3 || why.String() == "" {
		t.Fatalf("C copies %d runs of %d: %v, %v", runs, of, ok, why)
	}
	if of, _, _, ok = c.Copy(at(30), e); !ok || of != d {
		t.Errorf("E, the fastest, copies of %d, %v: B's are copied, and C's are a copy", of, ok)
	}
	p.Done(at(38), cc, 3, 8*time.Second)
	p.Back(at(38), b, 3)
	if _, _, _, ok = c.Copy(at(38), b); ok {
		t.Error("B, which is slower, copies what E does for D, or D's own")
	}
}

// Chunks of the classic policies, by the numbers that their papers print or their
// formulas give, for 100 runs on 4 slots that ask in turn.
func TestClassics(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"one", "1 1 1 1 1 1"},
		{"one:k=7", "7 7 7 7 7 7"},
		{"static", "25 25 25 25"},
		{"gss", "25 19 14 11 8 6 5 3 3 2 1 1 1 1"},
		{"factoring", "13 13 13 13 6 6 6 6 3 3 3 3 2 2 2 2 1 1 1 1"},
		{"factoring:cv=0", "25 25 25 25"},
		{"wf", "13 13 13 13 6 6 6 6 3 3 3 3 2 2 2 2 1 1 1 1"},
		{"tss", "13 12 11 10 9 8 7 7 6 5 4 3 2 1 1"},
	} {
		p, err := Parse(tt.spec, Job{Runs: 100})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			p.Join(Member{Slots: 1})
		}
		var got []string
		left := int64(100)
		for i := 0; left > 0; i++ {
			n, _ := p.Size(at(0), Node(i%4), Ask{Remaining: left})
			left -= int64(n)
			got = append(got, itoa(n))
		}
		if s := strings.Join(got, " "); !strings.HasPrefix(s, tt.want) {
			t.Errorf("%s: %s, want %s", tt.spec, s, tt.want)
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// Weights go by what is told, and those that are learnt by what is measured.
func TestWeights(t *testing.T) {
	wf, _ := Parse("wf", Job{Runs: 1000})
	awf, _ := Parse("awf", Job{Runs: 1000})
	for _, p := range []Policy{wf, awf} {
		fast, slow := p.Join(Member{Speed: 3}), p.Join(Member{Speed: 1})
		a, _ := p.Size(at(0), fast, Ask{Remaining: 1000})
		b, _ := p.Size(at(0), slow, Ask{Remaining: int64(1000 - a)})
		if a != 375 || p == wf && b != 125 {
			t.Errorf("%T: %d and %d", p, a, b)
		}
		p.Done(at(1), fast, a, time.Second)
		p.Done(at(1), slow, b, time.Duration(float64(b)/float64(a)*1e9))
		c, _ := p.Size(at(1), fast, Ask{Remaining: 400})
		if want := map[Policy]int{wf: 150, awf: 100}[p]; c != want {
			t.Errorf("%T, of two measured to be equal: %d, want %d", p, c, want)
		}
	}
}

// The default keeps chunks within its bounds of time.
func TestPaced(t *testing.T) {
	p, _ := Parse("paced:longest=2", Job{Runs: 1e9})
	n := p.Join(Member{Slots: 4})
	var got []string
	now := 0.0
	for range 9 {
		runs, _ := p.Size(at(now), n, Ask{Remaining: 1e9})
		took := float64(runs) / 100 // 100 a second
		now += took
		p.Done(at(now), n, runs, time.Duration(took*1e9))
		got = append(got, itoa(runs))
	}
	if s := strings.Join(got, " "); s != "4 8 16 32 64 128 200 200 200" {
		t.Errorf("chunks of %s", s)
	}
	// Of ten thousand members none gets chunks of less than ten seconds.
	for range 9999 {
		p.Join(Member{Slots: 4})
	}
	p.Size(at(now), n, Ask{Remaining: 1e9})
	p.Done(at(now), n, 200, 2*time.Second)
	for range 4 {
		runs, why := p.Size(at(now), n, Ask{Remaining: 1e9})
		p.Done(at(now), n, runs, time.Duration(float64(runs)/100*1e9))
		if runs != 400 && runs != 800 && runs != 1000 {
			t.Errorf("%d runs: %v", runs, why)
		}
	}
	if runs, _ := p.Size(at(now), n, Ask{Remaining: 1e9}); runs != 1000 {
		t.Errorf("%d runs at last, want 1000", runs)
	}
}
