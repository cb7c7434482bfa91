package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// fell returns a leader's fall that others say they noticed after so many
// milliseconds; 0 is never.
func fell(asked bool, claimed, named int) fall {
	f := fall{At: at(0), Asked: asked}
	if claimed > 0 {
		f.Claimed = at(claimed)
	}
	if named > 0 {
		f.Named = at(named)
	}
	return f
}

func TestTakeoverVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		falls  []fall
		broken int
	}{
		"none": {nil, 0},
		"in time": {[]fall{fell(false, 1000, 9000), fell(false, 2000, 2100), fell(false, 5000, 5100),
			fell(true, 1000, 1100)}, 0},
		"one too slow":      {[]fall{fell(false, 1000, 1100), fell(false, 1000, 1100), fell(false, 5001, 5100)}, 1},
		"most too slow":     {[]fall{fell(false, 3001, 3100), fell(false, 3001, 3100), fell(false, 1000, 1100)}, 1},
		"a slow goodbye":    {[]fall{fell(true, 1001, 1100)}, 1},
		"nobody follows":    {[]fall{fell(false, 0, 0)}, 1},
		"few heard of it":   {[]fall{fell(false, 1000, 0)}, 1},
		"a goodbye ignored": {[]fall{fell(true, 0, 0)}, 1},
	} {
		var r report
		r.takeovers(c.falls)
		if got := r.broken(); got != c.broken {
			t.Errorf("%s: %d promises broken, want %d: %+v", name, got, c.broken, r.Promises)
		}
	}
}

func TestReport(t *testing.T) {
	r := report{Scenario: "split", Seed: 7, Nodes: 7}
	r.show("takeover", "at most 5s", "%d s", 4)
	r.expect("nothing is lost", true, "not said")
	r.expect("nothing is slow", false, "task %d is", 3)
	var out bytes.Buffer
	if err := r.write(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"at most 5s", "kept    nothing is lost\n", "BROKEN  nothing is slow: task 3 is\n",
		"1 of 2 promises broken (split --seed 7)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := r.write(&out, true); err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Kept || len(back.Promises) != 2 ||
		back.Promises[1].Detail != "task 3 is" {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	skipped := report{Skipped: "no rights"}
	if err := skipped.write(&out, false); err != nil || out.String() != "skipped: no rights\n" || skipped.broken() > 0 {
		t.Errorf("%v: %q", err, out.String())
	}
}
