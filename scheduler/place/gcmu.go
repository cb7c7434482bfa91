package place

import (
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("gcmu", Kind{
		Params: "patience",
		Does:   "members that are idle longest get the class with the most age times execution rate there (generalised c-mu)",
		Make:   func(ps *spec.Params) Policy { return &GcMu{patience: patience(ps)} },
	})
}

// GcMu is the generalised c-mu rule (Van Mieghem 1995; Kokaly 2008, section
// 4.4.5): a member that is idle gets the head of the class for which
// the head's age times the class's execution rate at that member is the greatest. It
// is optimal under heavy load, and greedy otherwise.
type GcMu struct {
	patience float64 // see Traits
	pull     pulling
}

// Traits implements Policy.
func (p *GcMu) Traits() Traits { return Traits{Patience: p.patience, Rate: p.rate} }

func (p *GcMu) rate(_ time.Time, r Rates) bool {
	p.pull.rates = r
	return false
}

// Place implements Policy.
func (p *GcMu) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	return p.pull.run(queue, hosts, &gcmuRule)
}

var gcmuRule = rule{words: gcmuWords}

func gcmuWords(r *Reason) string {
	return fmt.Sprintf("the member that was idle longest; of %d classes that wait, this has the most age times rate "+
		"there (%.3g s times %.3g a second)", r.n, r.x, r.y)
}
