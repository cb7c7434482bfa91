package reproduce

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
)

func TestSheetJudges(t *testing.T) {
	for _, tt := range []struct {
		name  string
		judge func(*Sheet)
		want  Cell
		open  bool
	}{
		{"as published", func(s *Sheet) { s.Equal("c", "1/1/0", "1/1/0", "a note") },
			Cell{0, "E", "c", "1/1/0", "1/1/0", Equal, "a note"}, false},
		{"numbers as they are printed", func(s *Sheet) { s.Equal("c", 3, uint64(3), "") },
			Cell{0, "E", "c", "3", "3", Equal, ""}, false},
		{"not as published", func(s *Sheet) { s.Equal("c", "1/1/0", "1/0/1", "a note on the text") },
			Cell{0, "E", "c", "1/1/0", "1/0/1", Differs, ""}, true},
		{"as expected, not as printed", func(s *Sheet) { s.Expect("c", "75 %", "66.7 %", "66.7 %", "t1 is 20 h") },
			Cell{0, "E", "c", "75 %", "66.7 %", Equal, "t1 is 20 h"}, false},
		{"as printed, not as expected", func(s *Sheet) { s.Expect("c", "75 %", "66.7 %", "75 %", "t1 is 20 h") },
			Cell{0, "E", "c", "75 %", "75 %", Differs, ""}, true},
		{"a trend that holds", func(s *Sheet) { s.Trend("c", "rises", "1 2 3", true, "note", "why") },
			Cell{0, "E", "c", "rises", "1 2 3", Direction, "note"}, false},
		{"a trend that fails", func(s *Sheet) { s.Trend("c", "rises", "3 2 1", false, "note", "why") },
			Cell{0, "E", "c", "rises", "3 2 1", Differs, "why"}, false},
		{"a trend that fails, unexplained", func(s *Sheet) { s.Trend("c", "rises", "3 2 1", false, "note", "") },
			Cell{0, "E", "c", "rises", "3 2 1", Differs, ""}, true},
		{"near", func(s *Sheet) { s.Near("c", 474.85, 498, "%.2f", 5, "measured") },
			Cell{0, "E", "c", "474.85", "498.00", Within, "within 5 %; measured"}, false},
		{"near, with nothing to say", func(s *Sheet) { s.Near("c", 100, 95, "%.0f", 5, "") },
			Cell{0, "E", "c", "100", "95", Within, "within 5 %"}, false},
		{"not near", func(s *Sheet) { s.Near("c", 474.85, 499, "%.2f", 5, "measured") },
			Cell{0, "E", "c", "474.85", "499.00", Differs, ""}, true},
		{"nothing obtained", func(s *Sheet) { s.Near("c", 100, math.NaN(), "%.0f", 5, "measured") },
			Cell{0, "E", "c", "100", "NaN", Differs, ""}, true},
		{"lost", func(s *Sheet) { s.Lost("c", "130.8", "it is in a figure") },
			Cell{0, "E", "c", "130.8", "-", Unrecoverable, "it is in a figure"}, false},
		{"fitted", func(s *Sheet) { s.Fit("c", 100, 95, "%.0f", 5, "to this") },
			Cell{0, "E", "c", "100", "95", Fitted, "within 5 %; to this"}, false},
		{"fitted, and far off", func(s *Sheet) { s.Fit("c", 100, 94, "%.0f", 5, "to this") },
			Cell{0, "E", "c", "100", "94", Differs, ""}, true},
		{"of the project's own", func(s *Sheet) { s.Own("c", "-", "2", true, "note", "why") },
			Cell{0, "E", "c", "-", "2", Unpublished, "note"}, false},
		{"a mark of the project's own that is missed", func(s *Sheet) { s.Own("c", "at most 1", "2", false, "note", "why") },
			Cell{0, "E", "c", "at most 1", "2", Missed, "why"}, false},
		{"and nothing explains it", func(s *Sheet) { s.Own("c", "at most 1", "2", false, "note", "") },
			Cell{0, "E", "c", "at most 1", "2", Missed, ""}, true},
		{"a run's seed", func(s *Sheet) { s.FirstSeed = 7; s.Add(Direction, "c", "up", "up", "") },
			Cell{7, "E", "c", "up", "up", Direction, ""}, false},
	} {
		s := &Sheet{experiment: "E"}
		tt.judge(s)
		if len(s.Cells) != 1 || s.Cells[0] != tt.want || s.Cells[0].Unexplained() != tt.open {
			t.Errorf("%s: got %+v, want %+v", tt.name, s.Cells, tt.want)
		}
	}
}

func TestCount(t *testing.T) {
	cells := []Cell{{Verdict: Equal}, {Verdict: Differs}, {Verdict: Equal}, {Verdict: Unrecoverable}}
	if got := Count(cells); !reflect.DeepEqual(got, map[Verdict]int{Equal: 2, Differs: 1, Unrecoverable: 1}) {
		t.Errorf("got %v", got)
	}
	seen := map[Verdict]bool{}
	for _, v := range Verdicts {
		seen[v] = true
	}
	if len(seen) != 5 || Verdicts[0] != Equal || Verdicts[4] != Unrecoverable {
		t.Errorf("verdicts are %v", Verdicts)
	}
	for v, counted := range map[Verdict]bool{Equal: true, Within: true, Direction: true, Differs: true,
		Unrecoverable: true, Fitted: false, Unpublished: false, Missed: false} {
		if got := (Cell{Verdict: v}).Counted(); got != counted || seen[v] != counted || slices.Contains(Uncounted, v) == counted {
			t.Errorf("%s: counted %v, want %v", v, got, counted)
		}
	}
}

// TestJSON: --json prints cells and tables by these names, which others read.
func TestJSON(t *testing.T) {
	for want, v := range map[string]any{
		`{"seed":1,"experiment":"E1","cell":"A","published":"4934","obtained":"-",` +
			`"verdict":"unrecoverable","note":"n"}`: Cell{1, "E1", "A", "4934", "-", Unrecoverable, "n"},
		`{"experiment":"live","table":"efficiency","header":["POLICY"],"rows":[["gss"]]}`: Table{
			"live", "efficiency", []string{"POLICY"}, [][]string{{"gss"}}},
	} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0 %", 1: "100 %", 2. / 3: "66.7 %", 0.88: "88 %", 11. / 12: "91.7 %", 0.186: "18.6 %", 2.3256: "232.6 %",
		0.0004: "0 %", 0.9996: "100 %", -0.05: "-5 %", 1.0 / 3: "33.3 %",
	} {
		if got := Percent(x); got != want {
			t.Errorf("%v: got %q, want %q", x, got, want)
		}
	}
}

// TestInterval: quantiles of Student's t for 1, 2, 4 and 9 degrees of freedom are 12.706,
// 4.303, 2.776 and 2.262.
func TestInterval(t *testing.T) {
	for _, tt := range []struct {
		xs         []float64
		mean, half float64
	}{
		{[]float64{7}, 7, -1},
		{[]float64{1, 3}, 2, 12.706 * math.Sqrt2 / math.Sqrt2},
		{[]float64{1, 2, 3}, 2, 4.303 / math.Sqrt(3)},
		{[]float64{1, 2, 3, 4, 5}, 3, 2.776 * math.Sqrt(2.5) / math.Sqrt(5)},
		{[]float64{4, 4, 4, 4, 4, 4, 4, 4, 4, 14}, 5, 2.262 * math.Sqrt(10) / math.Sqrt(10)},
		{[]float64{5, 5, 5}, 5, 0},
	} {
		mean, half := Interval(tt.xs)
		if math.Abs(mean-tt.mean) > 1e-12 || math.Abs(half-tt.half) > 1e-3 {
			t.Errorf("%v: got %v +- %v, want %v +- %v", tt.xs, mean, half, tt.mean, tt.half)
		}
		if got := Mean(tt.xs); math.Abs(got-tt.mean) > 1e-12 {
			t.Errorf("%v: the mean is %v, want %v", tt.xs, got, tt.mean)
		}
	}
	if got := Mean(nil); !math.IsNaN(got) {
		t.Errorf("the mean of nothing is %v", got)
	}
}
