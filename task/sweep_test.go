package task

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawAxis draws a small valid axis: a list of different values or a range.
func drawAxis(t *rapid.T, name string) Axis {
	n := rapid.IntRange(1, 6).Draw(t, "length")
	if rapid.Bool().Draw(t, "list") {
		a := Axis{Name: name}
		for i := range n {
			a.Values = append(a.Values, fmt.Sprintf("v%d", i))
		}
		return a
	}
	step := rapid.Int64Range(-1000, 1000).Filter(func(n int64) bool { return n != 0 }).Draw(t, "step")
	return Axis{
		Name:     name,
		From:     rapid.Int64Range(-1e6, 1e6).Draw(t, "from"),
		Step:     step,
		Count:    uint64(n),
		Decimals: rapid.Uint8Range(0, 18).Draw(t, "decimals"),
	}
}

func drawSweep(t *rapid.T) Sweep {
	s := Sweep{Repeat: rapid.Uint64Range(0, 3).Draw(t, "repeat")}
	for i := range rapid.IntRange(0, 4).Draw(t, "axes") {
		s.Axes = append(s.Axes, drawAxis(t, fmt.Sprintf("a%d", i)))
	}
	return s
}

// Every index is another point, in the order of nested loops.
func TestPointIsTheProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSweep(t)
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		var want []string
		var loop func(axis int, so string)
		loop = func(axis int, so string) {
			if axis < len(s.Axes) {
				for i := range s.Axes[axis].Len() {
					loop(axis+1, so+s.Axes[axis].Name+"="+s.Axes[axis].Value(i)+" ")
				}
				return
			}
			for trial := range s.trials() {
				want = append(want, fmt.Sprintf("%strial=%d ", so, trial))
			}
		}
		loop(0, "")
		if s.Count() != uint64(len(want)) {
			t.Fatalf("Count() = %d, want %d", s.Count(), len(want))
		}
		seen := make(map[string]bool)
		for i := range s.Count() {
			var b strings.Builder
			for _, p := range s.Point(i) {
				b.WriteString(p.Name + "=" + p.Value + " ")
			}
			if b.String() != want[i] || seen[want[i]] {
				t.Fatalf("point %d is %q, want %q, once", i, b.String(), want[i])
			}
			seen[want[i]] = true
		}
	})
}

// Stepping is exact: it equals rational arithmetic, however far it goes.
func TestRangeIsExact(t *testing.T) {
	number := rapid.StringMatching(`-?[0-9]{1,6}(\.[0-9]{1,5})?`)
	rapid.Check(t, func(t *rapid.T) {
		from, to, step := number.Draw(t, "from"), number.Draw(t, "to"), number.Draw(t, "step")
		parsed := make([]decimal, 3)
		rats := make([]*big.Rat, 3)
		for i, s := range []string{from, to, step} {
			var ok bool
			if parsed[i], ok = parseDecimal(s); !ok {
				t.Fatalf("%q was not read", s)
			}
			rats[i], _ = new(big.Rat).SetString(s)
		}
		span := new(big.Rat).Sub(rats[1], rats[0])
		leads := rats[2].Sign() != 0 && span.Sign()*rats[2].Sign() >= 0
		a, f := rangeAxis("a", parsed[0], parsed[1], parsed[2])
		if (f == nil) != leads {
			t.Fatalf("from %s to %s by %s: fault %v", from, to, step, f)
		}
		if f != nil {
			return
		}
		steps := new(big.Rat).Quo(span, rats[2])
		whole := new(big.Int).Quo(steps.Num(), steps.Denom()).Uint64()
		if a.Count != whole+1 {
			t.Fatalf("from %s to %s by %s: %d points, want %d", from, to, step, a.Count, whole+1)
		}
		i := rapid.Uint64Range(0, whole).Draw(t, "index")
		want := new(big.Rat).SetUint64(i)
		want.Mul(want, rats[2]).Add(want, rats[0])
		got, ok := new(big.Rat).SetString(a.Value(i))
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("from %s by %s: point %d is %s, want %s", from, step, i, a.Value(i), want.FloatString(6))
		}
		if text := a.Value(i); len(text) > a.longest() || strings.Contains(text, ".") && strings.HasSuffix(text, "0") ||
			text == "-0" {
			t.Fatalf("%q is not the shortest text", text)
		}
	})
}

func TestRangeText(t *testing.T) {
	for _, test := range []struct{ rangeText, want string }{
		{"{from: 0, to: 1, step: 0.25}", "0 0.25 0.5 0.75 1"},
		{"{from: 0, to: 1, step: 0.3}", "0 0.3 0.6 0.9"},
		{"{from: 0, to: 0.5, step: 0.1}", "0 0.1 0.2 0.3 0.4 0.5"},
		{"{from: 1, to: -1, step: -0.5}", "1 0.5 0 -0.5 -1"},
		{"{from: -0.05, to: 0.05, step: 0.05}", "-0.05 0 0.05"},
		{"{from: 007, to: +9}", "7 8 9"},
		{"{from: 5, to: 5}", "5"},
		{"{from: 5, to: 5, step: -3}", "5"},
		{"{from: 1.50, to: 2.0, step: 0.50}", "1.5 2"},
		{"{from: 999999999999999998, to: 999999999999999999}", "999999999999999998 999999999999999999"},
		{"{from: 0.000000000000000001, to: 0.000000000000000002, step: 0.000000000000000001}",
			"0.000000000000000001 0.000000000000000002"},
	} {
		f, err := ParseFile("j", []byte("module: a.wasm\nsweep: {a: "+test.rangeText+"}\n"))
		if err != nil {
			t.Errorf("%s: %v", test.rangeText, err)
			continue
		}
		var got []string
		for i := range f.Sweep.Count() {
			got = append(got, f.Sweep.Point(i)[0].Value)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s is %q, want %q", test.rangeText, got, test.want)
		}
	}
}

// A sweep of a billion points, and one of the most points, cost nothing.
func TestHugeSweep(t *testing.T) {
	f, err := ParseFile("j", []byte(`module: a.wasm
args: ["{{.x}}", "{{.y}}", "{{.trial}}"]
sweep: {x: {from: 0, to: 99999}, y: {from: 0, to: 0.9999, step: 0.0001}, repeat: 1000}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Sweep.Count(); got != MaxTasks {
		t.Errorf("%d tasks, want %d", got, uint64(MaxTasks))
	}
	if got, want := fmt.Sprint(f.Sweep.Point(MaxTasks-1)), "[{x 99999} {y 0.9999} {trial 999}]"; got != want {
		t.Errorf("last point %s, want %s", got, want)
	}
}

func TestSweepValidate(t *testing.T) {
	ok := Axis{Name: "a", Step: 1, Count: 2}
	for name, s := range map[string]Sweep{
		"twice":        {Axes: []Axis{ok, ok}},
		"trial":        {Axes: []Axis{{Name: "trial", Step: 1, Count: 1}}},
		"no name":      {Axes: []Axis{{Step: 1, Count: 1}}},
		"empty":        {Axes: []Axis{{Name: "a", Step: 1}}},
		"no step":      {Axes: []Axis{{Name: "a", Count: 2}}},
		"both":         {Axes: []Axis{{Name: "a", Values: []string{"x"}, Count: 1}}},
		"overflow":     {Axes: []Axis{{Name: "a", Step: math.MaxInt64, Count: 3}}},
		"underflow":    {Axes: []Axis{{Name: "a", Step: math.MinInt64, Count: 2}}},
		"far":          {Axes: []Axis{{Name: "a", From: maxMantissa, Step: 1, Count: 2}}},
		"from":         {Axes: []Axis{{Name: "a", From: math.MinInt64, Step: 1, Count: 2}}},
		"decimals":     {Axes: []Axis{{Name: "a", Step: 1, Count: 2, Decimals: 19}}},
		"long":         {Axes: []Axis{{Name: "a", Step: 1, Count: MaxTasks + 1}}},
		"wraps to 0":   {Axes: []Axis{{Name: "a", Step: 1, Count: 1 << 32}, {Name: "b", Step: 1, Count: 1 << 32}}},
		"wraps to few": {Axes: []Axis{{Name: "a", Step: 1, Count: 1 << 36}, {Name: "b", Step: 1, Count: 1<<28 + 1}}},
		"repeat":       {Repeat: math.MaxUint64},
		"many values":  {Axes: []Axis{{Name: "a", Values: make([]string, MaxValues+1)}}},
		"long value":   {Axes: []Axis{{Name: "a", Values: []string{strings.Repeat("x", MaxValue+1)}}}},
		"no UTF-8":     {Axes: []Axis{{Name: "a", Values: []string{"\xff"}}}},
		"many axes":    {Axes: make([]Axis, MaxAxes+1)},
	} {
		if err := s.Validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := new(Sweep).Validate(); err != nil {
		t.Error(err)
	}
}
