package chunk

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, problem string }{
		{"", ""}, {"issse:peak=2,k=15,m=10.5", ""}, {"amra:rounds=3", ""},
		{"best", "use one of amra, amrs, awf"}, {"amra:k=3", "use one of rounds"}, {"gss:least=0", "from 1"},
		{"ssse:peak=0", "from 1"}, {"issse:m=NaN", "a number"}, {"calibrated:reassess=yes", "off, on"},
		{"amra:rounds", "NAME=VALUE"},
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
// formulas give, reckoned by hand, for 4 slots that ask in turn. Trapezoid steps are
// the formula's, (f-l)/(C-1), not rounded: rounded down, 100 runs would have none.
func TestClassics(t *testing.T) {
	for _, tt := range []struct {
		spec string
		runs int64
		want string // all chunks, or, with dots, the first
	}{
		{"one", 100, "1 1 1 1 1 1 ..."},
		{"one:k=7", 100, "7 7 7 7 7 7 7 7 7 7 7 7 7 7 2"},
		{"static", 100, "25 25 25 25"},
		{"gss", 100, "25 19 14 11 8 6 5 3 3 2 1 1 1 1"},
		{"gss", 1000, "250 188 141 106 79 59 45 33 25 19 14 11 8 6 4 3 3 2 1 1 1 1"},
		{"gss:least=5", 100, "25 19 14 11 8 6 5 5 5 2"},
		{"factoring", 100, "13 13 13 13 6 6 6 6 3 3 3 3 2 2 2 2 1 1 1 1"},
		{"factoring", 1000, "125 125 125 125 63 63 63 63 31 31 31 31 16 16 16 16 8 8 8 8 4 4 4 4 2 2 2 2 1 1 1 1"},
		{"factoring:cv=0", 100, "25 25 25 25"},
		{"factoring:cv=1", 1000, "229 229 229 229 9 9 9 9 5 5 5 5 3 3 3 3 2 2 2 2 1 1 1 1 1 1 1 1"},
		{"wf", 100, "13 13 13 13 6 6 6 6 3 3 3 3 2 2 2 2 1 1 1 1"},
		{"tss", 100, "13 12 11 10 9 8 7 7 6 5 4 3 2 1 1 1"},
		{"tss", 1000, "125 116 108 100 91 83 75 67 58 50 42 34 25 17 9"},
		{"fsc", 1000, "44 44 44 44 ..."},
		{"fsc:ratio=0.1", 1000, "9 9 9 9 ..."},
	} {
		p, err := Parse(tt.spec, Job{Runs: tt.runs})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			p.Join(Member{Slots: 1})
		}
		var got []string
		left := tt.runs
		for i := 0; left > 0; i++ {
			n, _ := p.Size(at(0), Node(i%4), Ask{Remaining: left})
			left -= int64(n)
			got = append(got, strconv.Itoa(n))
		}
		s := strings.Join(got, " ")
		if begin, some := strings.CutSuffix(tt.want, "..."); s != tt.want && !(some && strings.HasPrefix(s, begin)) {
			t.Errorf("%s of %d: %s, want %s", tt.spec, tt.runs, s, tt.want)
		}
	}
}
