package scheduler

import "godwit/scheduler/place"

// A dispatch gives waiting tasks to members: round after round it asks the policies of shares,
// of chunks and of placement whose turn it is, how much each gets and where it goes.
type dispatch struct {
	c *Coordinator

	policy     place.Policy
	traits     place.Traits // of policy
	forecaster Forecaster
	forecast   place.Forecast // for placement
	asking     bool           // a reminder to ask the policy again is set
	deciding   deciding       // memory of rounds and scans
	recalling  recalling
	touched    []*host // whose capacity may have grown
	widened    bool    // the queue has something that idle hosts have not been asked for
}

// goBy has tasks placed by a policy.
func (d *dispatch) goBy(p place.Policy) { d.policy, d.traits = p, p.Traits() }

// begin begins a Step.
func (d *dispatch) begin() {
	d.touched, d.widened = d.touched[:0], false
	d.deciding.step++
}
