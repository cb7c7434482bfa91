package share

import "fmt"

// A Reason says, for people, why a claimant gets slots, gets none, or gives some
// back. It is put into words only when somebody asks. The zero Reason says
// nothing.
type Reason struct {
	text string // of kind 0
	kind reasonKind
	n, m int
	x, y float64
}

// Because returns the reason that text says.
func Because(text string) Reason { return Reason{text: text} }

type reasonKind uint8

const (
	_ reasonKind = iota
	nothingIdle
	overloaded
	othersQueued
	othersTurn
	inOrder
	equalOfAll
	equalOfSite
	toEqual
	toEqualAtSite
	toWeighted
	toDominant
	givesEqually
	givesMost
	givesLast
	givesAll
	givesPart
	sorted
	givesLastSorted
)

// sortedBy has the words of the orders that sort jobs.
var sortedBy = map[Order]string{
	ByDeadline: "earliest deadline", ByLeastWork: "least work", ByMostWork: "most work",
}

// words has what each reason says: of n, m, x and y, in this order.
var words = map[reasonKind]string{
	nothingIdle:   "no slot is idle",
	overloaded:    "%d of %d slots are in use, which is as much as the guard against overload lets be filled",
	othersQueued:  "where slots are idle, work of higher priority waits for them",
	othersTurn:    "idle slots to give: %d, among %d; others were to have them",
	inOrder:       "first by priority and arrival, with %d idle slots",
	equalOfAll:    "an equal part of all idle slots (%d), among %d",
	equalOfSite:   "an equal part of the idle slots of this site (%d), among %d",
	toEqual:       "towards equal holdings: it had %d slots and comes to %d",
	toEqualAtSite: "towards equal holdings at this site: it had %d slots there and comes to %d",
	toWeighted:    "towards holdings by weight: it had %d slots and comes to %d, at weight %.3g",
	toDominant: "towards equal dominant shares: it had %d slots and comes to %d, which is %.3g of what there is most " +
		"used of, at weight %.3g",
	givesEqually:    "%d slots are wanted back here; %d give, equally as far as they have some",
	givesMost:       "%d slots are wanted back here; of %d, those who hold most beside their share give first",
	givesLast:       "%d slots are wanted back here; of %d, who came last gives first",
	givesAll:        "%d slots are wanted back here; each of %d gives as many, for they do not ask one another",
	sorted:          "first by priority and %s, with %d idle slots",
	givesLastSorted: "%d slots are wanted back here; of %d, the last by the rule that sorts jobs gives first",
	givesPart:       "%d slots are wanted back here; each of %d gives its part by what it holds, rounded up",
}

// String returns the reason in words.
func (r Reason) String() string {
	switch r.kind {
	case 0:
		return r.text
	case nothingIdle, othersQueued:
		return words[r.kind]
	case inOrder:
		return fmt.Sprintf(words[r.kind], r.n)
	case sorted:
		return fmt.Sprintf(words[r.kind], sortedBy[Order(r.n)], r.m)
	case toWeighted:
		return fmt.Sprintf(words[r.kind], r.n, r.m, r.x)
	case toDominant:
		return fmt.Sprintf(words[r.kind], r.n, r.m, r.x, r.y)
	}
	return fmt.Sprintf(words[r.kind], r.n, r.m)
}
