package sweep

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// worked is the instance of the thesis's section 3.1. Its times of a trial follow from
// the times printed for chunks.
func worked(policy string) *Scenario {
	s := &Scenario{Policy: policy, Runs: 60, Trials: 10, Trace: true}
	for _, n := range []struct {
		name         string
		cores, slots int
		tau          time.Duration
	}{{"A", 8, 8, time.Second}, {"B", 4, 4, 2500 * time.Millisecond}, {"C", 4, 4, time.Second}, {"D", 2, 1, time.Second},
		{"E", 2, 1, 500 * time.Millisecond}} {
		s.Nodes = append(s.Nodes, Node{Name: n.name, Slots: n.slots, Cores: n.cores, Time: n.tau})
	}
	return s
}

// traceOf writes a trace as the thesis's tables: a line an instant, NAMEruns-end.
func traceOf(s *Scenario, r *Report) string {
	var b strings.Builder
	last := time.Duration(-1)
	for _, c := range r.Trace {
		if c.Start != last {
			fmt.Fprintf(&b, "\n%g", c.Start.Seconds())
			last = c.Start
		}
		mark := ""
		if c.Copy {
			mark = "+"
		}
		fmt.Fprintf(&b, " %s%s%d-%g", s.Nodes[c.Node].Name, mark, c.Runs, c.End.Seconds())
	}
	return strings.TrimSpace(b.String())
}

// Karaduman 2010, sections 3.1 to 3.3: the worked example, chunk by chunk.
func TestWorkedExample(t *testing.T) {
	for _, tt := range []struct {
		policy, want string
		seconds      float64
	}{
		{"amrs:rounds=3", `0 A8-10 B4-25 C4-10 D2-20 E2-10
25 A9-37 B3-45 C5-38 D2-45 E3-40
45 A10-58 B3-65 C5-58`, 65},
		{"amra:rounds=3", `0 A8-10 B4-25 C4-10 D2-20 E2-10
10 A8-20 C4-20 E2-20
20 A8-30 C4-30 E2-30 D2-40
25 B3-45
30 A7-39`, 45},
		{"samra:rounds=3", `0 A4-5 B2-12.5 C2-5 D1-10 E1-5
5 A8-15 C4-15 E2-15
10 D2-30
12.5 B2-25
15 A8-25 C4-25 E2-25
25 A8-35 C4-35 E2-35 B2-37.5
30 D1-40
35 A1-37`, 40},
		{"ssse:peak=1,k=3,m=2.3", `0 A8-10 B4-25 C4-10 D2-20 E2-10
10 A8-20 C4-20 E2-20
20 A8-30 C4-30 E2-30 D1-30
25 B2-37.5
30 A4-35 C2-35 E1-35
35 A2-38`, 38},
	} {
		s := worked(tt.policy)
		r, err := Run(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := traceOf(s, r); got != tt.want || math.Abs(r.Makespan.Seconds()-tt.seconds) > 1e-9 {
			t.Errorf("%s: %v\n%s\nwant %v s\n%s", tt.policy, r.Makespan, got, tt.seconds, tt.want)
		}
	}
}
