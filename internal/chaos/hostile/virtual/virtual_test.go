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
