package submission

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"godwit/task"
)

// trialRow is the row of a trial that ended, with a number if it did not fail.
func trialRow(number uint64, point string, trial int, x float64, failed bool) *row {
	r := &row{fixed: []string{strconv.FormatUint(number, 10)}, params: []task.EnvVar{{Name: "x", Value: point},
		{Name: task.Trial, Value: strconv.Itoa(trial)}}, fields: map[string]string{}, failed: failed}
	if !failed {
		r.fields["value"] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return r
}

// Points come in the order of the sweep, then those that were added, each with all its trials, whichever job has them.
func TestPointsIncludeAdditions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, points := rapid.IntRange(1, 4).Draw(t, "trials"), rapid.IntRange(1, 4).Draw(t, "points")
		type trial struct {
			point string
			x     float64
			fails bool
		}
		draw := func(point int) trial {
			return trial{fmt.Sprint("p", point), float64(rapid.IntRange(0, 9).Draw(t, "number")), rapid.IntRange(0, 5).Draw(t,
				"fails") == 0}
		}
		var own, added []trial
		for p := range points {
			for range first {
				own = append(own, draw(p))
			}
		}
		for range rapid.IntRange(0, 10).Draw(t, "added") {
			added = append(added, draw(rapid.IntRange(0, points+1).Draw(t, "point")))
		}
		var got []*PointSummary
		s := &summing{held: map[string]*PointSummary{}, f: func(p *PointSummary) error {
			got = append(got, p)
			return nil
		}}
		for i, tr := range added {
			if err := s.hold(trialRow(uint64(len(own)+i), tr.point, i, tr.x, tr.fails)); err != nil {
				t.Fatal(err)
			}
		}
		for i, tr := range own {
			if err := s.next(trialRow(uint64(i), tr.point, i%first, tr.x, tr.fails)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.rest(); err != nil {
			t.Fatal(err)
		}
		var order []string
		want := map[string][4]float64{} // trials, failed, numbers and their sum
		for _, tr := range slices.Concat(own, added) {
			if !slices.Contains(order, tr.point) {
				order = append(order, tr.point)
			}
			w := want[tr.point]
			if w[0]++; tr.fails {
				w[1]++
			} else {
				w[2], w[3] = w[2]+1, w[3]+tr.x
			}
			want[tr.point] = w
		}
		if len(got) != len(order) {
			t.Fatalf("%d points, want %d", len(got), len(order))
		}
		for i, p := range got {
			w := want[order[i]]
			if p.Params[0].Value != order[i] || len(p.Params) != 1 || float64(p.Trials) != w[0] || float64(p.Failed) != w[1] {
				t.Fatalf("point %d is %+v, want %s with %v", i, p, order[i], w)
			}
			if f := p.Fields["value"]; w[2] > 0 && (float64(f.N()) != w[2] || f.Mean()*w[2] < w[3]-1e-9 ||
				f.Mean()*w[2] > w[3]+1e-9) || w[2] == 0 && f != nil {
				t.Fatalf("point %s has the numbers %+v, want %v", order[i], f, w)
			}
		}
	})
}

// Points of an axis value and another's beginning are not mixed up, nor those of two stages.
func TestPointNamesDiffer(t *testing.T) {
	name := func(stage string, values ...string) string {
		r := &row{stage: stage}
		for _, v := range values {
			r.params = append(r.params, task.EnvVar{Name: "a", Value: v})
		}
		return r.pointName()
	}
	names := []string{name("", "a", "bc"), name("", "ab", "c"), name("", "abc"), name("a", "bc"), name("abc"), name("", "", "abc")}
	slices.Sort(names)
	if len(slices.Compact(names)) != 6 {
		t.Errorf("%q", names)
	}
}

// What is no decimal number is not counted, and what programs write takes bounded memory.
func TestOnlyNumbersAreSummarized(t *testing.T) {
	for text, want := range map[string]bool{"1": true, "-2.5e3": true, ".5": true, "": false, "NaN": false, "inf": false, "0x10": false,
		"1_000": false, "1e999": false, "1e300": false, "true": false, "1 2": false, "1.2.3": false} {
		if _, ok := numberOf(text); ok != want {
			t.Errorf("%q is a number: %v", text, ok)
		}
	}
	r := trialRow(0, "p", 0, 1, false)
	for i := range maxFields + 10 {
		r.fields[fmt.Sprint("f", i)] = "1"
	}
	r.fields[strings.Repeat("x", maxFieldName+1)] = "1"
	p := r.point()
	p.add(r)
	if len(p.Fields) != maxFields {
		t.Errorf("%d fields, want %d", len(p.Fields), maxFields)
	}
	s := &summing{held: map[string]*PointSummary{}, fields: maxSummaries}
	if s.hold(trialRow(0, "p", 0, 1, false)) == nil {
		t.Error("more summaries are held than may be")
	}
}

// A point's object has what is known of it, and nothing that JSON cannot say.
func TestPointAsJSON(t *testing.T) {
	r := trialRow(0, "p", 0, 2, false)
	r.fields["other"] = "text"
	p := r.point()
	p.add(r)
	p.add(trialRow(1, "p", 1, 0, true))
	b, err := json.Marshal(p.json())
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"params":{"x":"p"},"trials":2,"failed":1,"fields":{"value":{"n":1,"mean":2,"least":2,"greatest":2,` +
		`"histogram":{"edges":[2,2],"counts":[1]}}}}`; string(b) != want {
		t.Errorf("%s", b)
	}
}

// The table for people has aligned columns and no control characters of a worker's.
func TestPointTable(t *testing.T) {
	all, fields := &pointSet{}, map[string]bool{}
	for i, value := range []string{"a\tb\x1b[1m", ""} {
		r := trialRow(uint64(i), value, 0, float64(i), i == 1)
		p := r.point()
		p.add(r)
		all.add(p, fields)
	}
	var b strings.Builder
	all.print(&b)
	want := "x        FIELD  N  MEAN  SD  ±95%  LEAST  GREATEST  HISTOGRAM  FAILED\n" +
		"a b [1m  value  1  0     -   -     0      0         [█]        0\n" +
		"-        -      0  -     -   -     -      -                    1\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// An error of whoever takes the points ends the reading.
func TestPointsEndWithAnError(t *testing.T) {
	stop := errors.New("stop")
	s := &summing{held: map[string]*PointSummary{}, f: func(*PointSummary) error { return stop }}
	if err := s.next(trialRow(0, "a", 0, 1, false)); err != nil {
		t.Fatal(err)
	}
	if err := s.next(trialRow(1, "b", 0, 1, false)); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func BenchmarkSumTrials(b *testing.B) {
	s := &summing{held: map[string]*PointSummary{}, f: func(*PointSummary) error { return nil }}
	rows := make([]*row, 1000)
	for i := range rows {
		rows[i] = trialRow(uint64(i), fmt.Sprint(i/100), i%100, float64(i%17), false)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.next(rows[i%len(rows)]); err != nil {
			b.Fatal(err)
		}
	}
}
