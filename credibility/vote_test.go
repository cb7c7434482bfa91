package credibility

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestVote(t *testing.T) {
	const f = .1
	for _, tt := range []struct {
		what   string
		groups [][]float64
		best   int
		doubt  float64
	}{
		{"one alone", [][]float64{{f}}, 0, f},
		{"two strangers agree", [][]float64{{f, f}}, 0, Agreeing(f, f)},
		{"four strangers agree", [][]float64{{f, f, f, f}}, 0, 1 / (1 + 6561.)},
		{"a known one and a stranger", [][]float64{{.004, f}}, 0, Agreeing(.004, f)},
		{"one against one", [][]float64{{f}, {f}}, 0, 10. / 19},
		{"two against one", [][]float64{{f}, {f, f}}, 1, 10. / 91},
		{"a known one against two strangers", [][]float64{{.001}, {f, f}}, 0, 82. / (82 + 999)},
	} {
		best, doubt := Vote(tt.groups)
		if best != tt.best || math.Abs(doubt-tt.doubt) > 1e-9 {
			t.Errorf("%s: group %d, %g, want %d, %g", tt.what, best, doubt, tt.best, tt.doubt)
		}
	}
}

// Who agrees makes a result more likely, who disagrees less, if they are right more often than not.
func TestVoteProperties(t *testing.T) {
	chance := rapid.Float64Range(0, .5)
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.SliceOfN(rapid.SliceOfN(chance, 1, 5), 1, 4).Draw(t, "groups")
		best, doubt := Vote(groups)
		if !(doubt >= 0 && doubt <= 1) {
			t.Fatalf("a doubt of %g", doubt)
		}
		e := chance.Draw(t, "one more")
		groups[best] = append(groups[best], e)
		if b, with := Vote(groups); b != best || with > doubt+1e-12 {
			t.Fatalf("with one more who agrees group %d, %g, before %d, %g", b, with, best, doubt)
		}
	})
}

func TestPraiseOfOthers(t *testing.T) {
	var c Credit
	for range 50 {
		c.Praise(1, day0)
	}
	if got := c.Believed(day0); got != Hearsay {
		t.Errorf("strangers' praise counts %g", got)
	}
	c.Confirm(1, 1, day0)
	if got := c.Believed(day0); got != 2+Hearsay {
		t.Errorf("with a task that was seen %g", got)
	}
	if got := c.Believed(day0.Add(HalfLife)); math.Abs(got-(1+Hearsay)) > 1e-9 || c.Right(day0) != 1 || c.Audits != 1 {
		t.Errorf("after a half-life %g, of its own %g", got, c.Right(day0))
	}
	if c.Forget(); c.Believed(day0) != 0 {
		t.Error("something is left")
	}
}
