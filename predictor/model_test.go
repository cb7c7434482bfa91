package predictor

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		spec, fails string
	}{
		{"blend", ""},
		{"tde:n=3,m=2,reading=prefix,missing_days=skip,weights=.7/.2/.1", ""},
		{"saturating:bits=3,slot=1h", ""},
		{"window:span=6h,states=single", ""},
		{"semimarkov:days=3", ""},
		{"oracle", "it is one of blend:firm=, opinions, blend442, tde:n="},
		{"tde:k=3", "one of n, m, reading, missing_days, absent, weights"},
		{"tde:n=0", "a whole number from 1 to 31"},
		{"tde:n=40", "from 1 to 31"},
		{"tde:n=3,n=4", "twice"},
		{"tde:reading=often", "one of transitional, prefix, fraction"},
		{"tde:n=2,weights=1", "of sum 1"},
		{"tde:weights=x", "slashes"},
		{"blend:n=3", "use one of firm"},
		{"blend:firm=0", "firm"},
		{"opinions:n=3", "it has none"},
		{"history:bits=13", "from 1 to 12"},
		{"window:span=never", "length of time"},
		{"", "unknown predictor"},
	} {
		_, err := Parse(c.spec)
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%q: %v, want %q", c.spec, err, c.fails)
		}
	}
	models, err := ParseList("blend,tde:n=5,reading=prefix,age")
	if err != nil || len(models) != 3 || models[1].Name != "tde:n=5,reading=prefix" {
		t.Errorf("a list: %v, %v", models, err)
	}
}

// notMonotone are those whose published form may rise with the horizon.
var notMonotone = map[string]bool{"semimarkov": true}

// Whatever a host does, every predictor gives a probability, 1 for no time at
// all, and one that falls with the horizon.
func TestPredictorsGiveProbabilities(t *testing.T) {
	for _, k := range kinds.Names() {
		t.Run(k, func(t *testing.T) {
			m, err := Parse(k)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				p := m.New(&Pool{})
				at := start
				for range rapid.IntRange(0, 40).Draw(t, "changes") {
					at = at.Add(time.Duration(math.Exp(rapid.Float64Range(0, 14).Draw(t, "wait"))) * time.Second)
					switch what := rapid.IntRange(0, 6).Draw(t, "what"); what {
					case 5:
						Blind(p, at)
					default:
						p.Observe(at, trace.State(what))
					}
				}
				p.Observe(at, trace.Available)
				now := at.Add(time.Duration(rapid.Int64Range(0, int64(50*time.Hour)).Draw(t, "age")))
				if got, _ := p.Stay(now, 0); got != 1 {
					t.Fatalf("a stay of no time: %v", got)
				}
				last := 1.0
				for d := 7 * time.Minute; d < 200*time.Hour; d += d / 2 {
					got, _ := p.Stay(now, d)
					if !(got >= 0 && got <= 1) || got > last+1e-12 && !notMonotone[k] {
						t.Fatalf("a stay of %v: %v after %v", d, got, last)
					}
					last = got
				}
			})
		})
	}
}
