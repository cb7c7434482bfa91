package task

import (
	"slices"
	"testing"
)

// chainBy is a chain of states that those workers left, the latest first. Unless it is whole there
// was another before the first of them.
func chainBy(whole bool, workers ...PeerID) (chain []Link) {
	for k := len(workers) - 1; k >= 0; k-- {
		prior := PriorOf(chain)
		if len(chain) == 0 && !whole {
			prior = make([]byte, 32)
		}
		chain = append([]Link{{Fuel: uint64(len(workers) - k), Voucher: Voucher{Worker: workers[k], Prior: prior}}}, chain...)
	}
	return chain
}

// TestAnsweredBy: for a result answer its worker and all whose states its run went on from, each
// once, who began last; of a chain that is cut short not all are known. A run of which nothing is told is its
// worker's alone.
func TestAnsweredBy(t *testing.T) {
	for name, tt := range map[string]struct {
		trail *Trail
		want  []PeerID
		whole bool
	}{
		"no trail":            {nil, []PeerID{"w"}, true},
		"from its beginning":  {&Trail{}, []PeerID{"w"}, true},
		"one state":           {&Trail{Began: chainBy(true, "a")}, []PeerID{"w", "a"}, true},
		"there and back":      {&Trail{Began: chainBy(true, "a", "w", "b")}, []PeerID{"a", "w", "b"}, true},
		"back where it began": {&Trail{Began: chainBy(true, "a", "w")}, []PeerID{"a", "w"}, true},
		"cut short":           {&Trail{Began: chainBy(false, "a", "b", "c", "d")}, []PeerID{"w", "a", "b", "c", "d"}, false},
	} {
		r := Result{Worker: "w", Trail: tt.trail}
		got, whole := r.AnsweredBy()
		if !slices.Equal(got, tt.want) || whole != tt.whole {
			t.Errorf("%s: %v answer, whole %v; want %v, %v", name, got, whole, tt.want, tt.whole)
		}
	}
}

// TestIndependent: results are independent if no worker answers for two of them, be it that he
// signed one and left a state to the other; of those whose chain is cut short nobody knows.
func TestIndependent(t *testing.T) {
	of := func(w PeerID, whole bool, chain ...PeerID) Result {
		return Result{Worker: w, Trail: &Trail{Began: chainBy(whole, chain...)}}
	}
	for name, tt := range map[string]struct {
		results []Result
		want    bool
	}{
		"none":                      {nil, true},
		"two workers":               {[]Result{of("a", true), of("b", true)}, true},
		"two chains":                {[]Result{of("a", true, "c"), of("b", true, "d", "e")}, true},
		"one worker twice":          {[]Result{of("a", true), of("a", true)}, false},
		"a state of the other":      {[]Result{of("a", true), of("b", true, "a")}, false},
		"a state of a third":        {[]Result{of("a", true, "l"), of("b", true, "c", "l")}, false},
		"the third has it":          {[]Result{of("a", true), of("b", true), of("c", true, "d", "b")}, false},
		"one that is cut short":     {[]Result{of("a", false, "c", "d", "e", "f"), of("b", true)}, false},
		"that one alone":            {[]Result{of("a", false, "c", "d", "e", "f")}, true},
		"nothing is told of either": {[]Result{{Worker: "a"}, {Worker: "b"}}, true},
	} {
		if got := Independent(tt.results); got != tt.want {
			t.Errorf("%s: independent is %v", name, got)
		}
	}
}
