package virtual

import (
	"testing"
	"time"
)

// TestHonestJobEndsRight: without lies, a job ends right and exactly once in pools of all sizes, so that a run
// of an attack fails only because of the attack.
func TestHonestJobEndsRight(t *testing.T) {
	for number := range 6 {
		v, rng := draw(3, number)
		v.Hosts = min(v.Hosts, 60)
		if v.Tasks = min(v.Tasks, v.waves(4)); v.Hosts < perCell<<v.Bits {
			v.Bits = 0
		}
		o, err := run(func(a *attack) {
			a.begin = func() { a.s.After(max(0, a.v.Job-a.v.First), func() { a.submit(0) }) }
		}, v, rng)
		if err != nil {
			t.Fatal(err)
		}
		if o.Right != v.Tasks || o.Wrong+o.Lost+o.Twice > 0 || o.Succeeded != "" {
			t.Errorf("%s: %s", v, o)
		}
	}
}

// TestRunsRepeat: a variation runs twice in the same way.
func TestRunsRepeat(t *testing.T) {
	v, rng := draw(1, 5)
	first, err := run(split, v, rng)
	if err != nil {
		t.Fatal(err)
	}
	v, rng = draw(1, 5)
	second, err := run(split, v, rng)
	if err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() || first.Variation != second.Variation {
		t.Errorf("two runs of one variation differ: %s, %s", first, second)
	}
}

// TestDraw: the variations of a row have pools from 3 to 1,000 hosts, divided and not.
func TestDraw(t *testing.T) {
	small, large, divided := mostHosts, 0, 0
	for number := range 100 {
		v, _ := draw(1, number)
		small, large = min(small, v.Hosts), max(large, v.Hosts)
		if v.Bits > 0 {
			divided++
		}
		if v.End <= v.First+10*time.Minute || v.Tasks < 1 || v.Replicas > v.Hosts {
			t.Errorf("%s", v)
		}
	}
	if small > 5 || large < 800 || divided < 20 {
		t.Errorf("100 pools of %d to %d hosts, %d divided", small, large, divided)
	}
}

// TestFewKeysFillNothing: attacks that need many keys fail with few, so that the rows can hold.
func TestFewKeysFillNothing(t *testing.T) {
	for row, few := range map[string]int{"T4": 0, "T5": 2, "T6": 20} {
		v, rng := draw(1, 1)
		o, err := run(func(a *attack) {
			rows[row](a)
			a.keys = a.keys[:few]
		}, v, rng)
		if err != nil {
			t.Fatal(err)
		}
		if o.Succeeded != "" || o.Right == 0 || o.Wrong+o.Lost+o.Twice > 0 {
			t.Errorf("%s with %d keys, %s: %s", row, few, o.Variation, o)
		}
	}
}

// TestAttacksHaveOneOutcome: on code without the fixes each attack succeeds; on code with them it fails, and the job
// of the variation ends right. Either way a run has one outcome.
func TestAttacksHaveOneOutcome(t *testing.T) {
	for _, row := range Names() {
		v, rng := draw(1, 1)
		o, err := run(rows[row], v, rng)
		if err != nil {
			t.Fatal(err)
		}
		if o.Succeeded == "" && (o.Right == 0 || o.Wrong+o.Lost+o.Twice > 0) {
			t.Errorf("%s, %s: %s", row, o.Variation, o)
		}
	}
}
