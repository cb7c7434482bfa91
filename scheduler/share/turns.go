package share

import (
	"cmp"
	"slices"
)

// Turns is the order in which claimants get what cannot be divided. Who gets one
// goes to the back; who is new comes there too, so that a stream of newcomers
// keeps nobody waiting for ever.
type turns struct {
	stamp map[string]uint64 // the smaller, the sooner
	next  uint64
	at    []uint64 // of each claimant, in this call
	used  []float64
}

// begin gives every claimant its place, and forgets those who are gone once they
// are more than those who are there.
func (t *turns) begin(claimants []Claimant) {
	if t.stamp == nil {
		t.stamp = make(map[string]uint64, len(claimants))
	}
	t.at, t.used = t.at[:0], t.used[:0]
	for i := range claimants {
		s, ok := t.stamp[claimants[i].ID]
		if !ok {
			t.next++
			s = t.next
			t.stamp[claimants[i].ID] = s
		}
		t.at, t.used = append(t.at, s), append(t.used, claimants[i].Used)
	}
	const few = 64
	if len(t.stamp) > 2*len(claimants)+few {
		clear(t.stamp)
		for i := range claimants {
			t.stamp[claimants[i].ID] = t.at[i]
		}
	}
}

// order sorts claimants by how long they had slots, and those alike by their turns.
func (t *turns) order(who []int) {
	slices.SortFunc(who, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.used[a], t.used[b]), cmp.Compare(t.at[a], t.at[b]))
	})
}

// back sends a claimant to the back.
func (t *turns) back(claimants []Claimant, i int) {
	t.next++
	t.at[i] = t.next
	t.stamp[claimants[i].ID] = t.next
}
