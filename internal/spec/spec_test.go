package spec

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ in, name, want, problem string }{
		{"fcfs", "fcfs", "", ""},
		{" fcfs: ", "fcfs", "", ""},
		{"flp:lambda=2,interval=1h", "flp", "lambda=2,interval=1h", ""},
		{"flp:lambda", "", "", "NAME=VALUE"},
		{"flp:lambda=1,lambda=2", "", "", "twice"},
		{"flp:lambda=1,", "", "", "NAME=VALUE"},
	} {
		name, values, err := Split(tt.in)
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%q: got %v, want an error with %s", tt.in, err, tt.problem)
			}
			continue
		}
		got := Read(values, []string{"lambda", "interval"}).Pass("lambda", "interval")
		if err != nil || name != tt.name || got != tt.want {
			t.Errorf("%q: got %q, %q, %v", tt.in, name, got, err)
		}
	}
}

func TestParams(t *testing.T) {
	known := []string{"n", "x", "d", "c"}
	read := func(key, value string) error {
		ps := Read(map[string]string{key: value}, known)
		ps.Integer("n", 1, 1, 31)
		ps.Number("x", 1, 0, 1)
		ps.Duration("d", time.Hour)
		ps.Choice("c", "one", "two")
		return ps.Err()
	}
	for _, tt := range []struct{ key, value, problem string }{
		{"n", "31", ""}, {"n", "32", "from 1 to 31"}, {"n", "1.5", "whole"}, {"n", "", "whole"},
		{"x", "0", ""}, {"x", "1e-1", ""}, {"x", "NaN", "from 0 to 1"}, {"x", "-1", "from 0 to 1"},
		{"d", "1s", ""}, {"d", "1ms", "length of time"}, {"d", "5", "length of time"},
		{"c", "two", ""}, {"c", "three", "one, two"},
		{"y", "1", "use one of n, x, d, c"},
	} {
		err := read(tt.key, tt.value)
		if tt.problem == "" && err != nil || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%s=%s: got %v, want %q", tt.key, tt.value, err, tt.problem)
		}
	}
	if err := Read(map[string]string{"y": "1"}, nil).Err(); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
}

// Of a faster world every length of time is shorter, given or not, and nothing
// else changes.
func TestFaster(t *testing.T) {
	for _, tt := range []struct {
		in   string
		by   float64
		want string // or what the error says
	}{
		{"flp", 60, "flp:interval=10s,wait=1m0s"},
		{"flp:lambda=2,interval=30m", 60, "flp:interval=30s,lambda=2,wait=1m0s"},
		{"flp:wait=5m", 600, "give it 10m0s or more"},
		{"flp", 1, "flp:interval=10m0s,wait=1h0m0s"},
	} {
		name, values, err := Split(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		ps := Read(values, []string{"lambda", "interval", "wait"})
		ps.Integer("lambda", 1, 1, 9)
		ps.Duration("interval", 10*time.Minute)
		ps.Duration("wait", time.Hour)
		got, err := ps.Faster(name, tt.by)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, tt.want) || err == nil && got != tt.want {
			t.Errorf("%s, %v times as fast: %s, want %s", tt.in, tt.by, got, tt.want)
		}
	}
}

func TestUsage(t *testing.T) {
	for params, want := range map[string]string{"": "flp", "lambda": "flp:lambda=",
		"lambda  interval": "flp:lambda=,interval="} {
		if got := Usage("flp", params); got != want {
			t.Errorf("Usage(%q) = %q, want %q", params, got, want)
		}
	}
}

// What a parameter takes, and its default, is told for people.
func TestDefaults(t *testing.T) {
	r := Registry[int]{Room: "room", Thing: "policy"}
	r.Register("all", Kind[int]{Params: "n x y z w c d", Make: func(ps *Params) int {
		ps.Integer("n", 3, 1, 31)
		ps.Number("x", .5, 0, 1)
		ps.Number("y", 2, math.SmallestNonzeroFloat64, math.MaxFloat64)
		ps.Number("z", 1, math.SmallestNonzeroFloat64, 2)
		ps.Numbers("w")
		ps.Choice("c", "no", "yes")
		if d := ps.Duration("d", time.Minute); ps.With() == "slow" && d == 0 {
			return 1
		}
		return 0
	}})
	got := ""
	for _, p := range r.Defaults("slow", "all") {
		got += p.Name + "=" + p.Default + " (" + p.Takes + ") "
	}
	want := "n=3 (1 to 31) x=0.5 (0 to 1) y=2 (above 0) z=1 (above 0, to 2) w= (numbers with slashes between them) " +
		"c=no (no, yes) d=1m0s (1s or more) "
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if none := r.Defaults("", "nothing"); none != nil {
		t.Errorf("of no kind: %v", none)
	}
}

// A parameter without effect is an error of its own, with the reason.
func TestIgnore(t *testing.T) {
	r := Registry[string]{Room: "room", Prefix: "room: ", Thing: "policy"}
	r.Register("p", Kind[string]{Params: "n", Make: func(ps *Params) string {
		ps.Integer("n", 1, 1, 9)
		if ps.With() != "" {
			ps.Ignore(ps.With()+" has its own", "n")
		}
		return ps.With()
	}})
	for _, tt := range []struct{ with, spec, void string }{
		{"", "p:n=2", ""},
		{"tde", "p", ""},
		{"tde", "p:n=2", "room: policy p: n=2 has no effect: tde has its own"},
	} {
		made, ps, err := r.ParseWith(tt.with, tt.spec)
		got := ""
		if ps != nil && ps.Void() != nil {
			got = ps.Void().Error()
		}
		if err != nil || made != tt.with || got != tt.void {
			t.Errorf("%q with %q: %q, %v, %q, want %q", tt.spec, tt.with, made, err, got, tt.void)
		}
	}
}
