package task

import (
	"testing"

	"pgregory.net/rapid"
)

// someVerify draws what a job, or rules, can say.
func someVerify(t *rapid.T, name string) *Verify {
	v, err := ParseVerify(rapid.SampledFrom([]string{"off", "0.5%", "5%", "full", "1e-9", "1e-3", "0.5"}).Draw(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What is raised to a floor is not less than that, is checked as much as before, and keeps its
// condition; what is not less stays.
func TestFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, floor := someVerify(t, "job"), someVerify(t, "floor")
		confirm := ""
		if rapid.Bool().Draw(t, "condition") {
			confirm = "exit code 1"
			v = v.with(confirm)
		}
		got := v.AtLeast(floor)
		if got.Less(floor) || got.Less(v) || got != nil && (got.check() != nil || got.Confirm != confirm) {
			t.Fatalf("%+v at least %+v is %+v", v, floor, got)
		}
		if !v.Less(floor) && got != v {
			t.Fatalf("%+v is no less than %+v, and becomes %+v", v, floor, got)
		}
		if err := floor.CheckFloor(); err != nil {
			t.Fatal(err)
		}
	})
	for _, tt := range []struct {
		job, floor string
		less       bool
	}{
		{"off", "0.5%", true}, {"5%", "5%", false}, {"4%", "5%", true}, {"full", "1e-9", false}, {"5%", "1e-3", true},
		{"1e-3", "5%", true}, {"1e-4", "1e-3", false}, {"1e-2", "1e-3", true}, {"off", "off", false},
	} {
		job, _ := ParseVerify(tt.job)
		floor, _ := ParseVerify(tt.floor)
		if job.Less(floor) != tt.less {
			t.Errorf("%s is less than %s: %v", tt.job, tt.floor, !tt.less)
		}
	}
}
