package place

import "time"

// Traits are what a policy needs of whoever runs it, beside calls of Place. The zero
// Traits is a policy that needs nothing. Functions that are nil are not called.
type Traits struct {
	// Predictor is what the policy was published with, as predictor.Parse reads it; ""
	// where it looks at no forecast. Who runs the policy makes the Forecast of it, or of a
	// better one.
	Predictor string
	// Again is after how long, without any event, a policy is asked once more that may
	// leave tasks waiting beside members with room. 0 is one that leaves none.
	Again time.Duration
	// Waits says, for people, why a policy leaves a task waiting beside members that have room; "" if it would not. It is
	// nil of a policy that leaves none.
	Waits func(now time.Time, t *Task, hosts []Host, f Forecast) string
	// Shares says that the policy gives tasks to busy members while others are idle: it
	// is for members that share their time between tasks.
	Shares bool
	// Patience is how many times as long as is expected of its class at its member a task
	// may take before it is given up there and waits for another: MGST's time-out (Kokaly
	// 2008, section 8.1.2 and appendix B), of which the thesis's example is 3. 0 is
	// forever. Who runs the policy sees to it.
	Patience float64

	// Lost tells a policy that learns that so many tasks were lost at now with the members
	// that ran them (Zhang's disposed jobs). What is told of one instant counts as after
	// the placements of that instant.
	Lost func(now time.Time, tasks int)
	// Situate tells a policy that weighs what a placement costs how things stand, before
	// each call of Place.
	Situate func(s Situation)
	// Rate tells a policy that goes by the rates at which members execute classes of tasks
	// what they are at now, before each round, ahead of choosing whom to offer. They hold
	// until the next call. It returns whether members that were idle and got nothing may
	// get something now: then all that have room should be offered.
	Rate func(now time.Time, r Rates) (anew bool)
	// Rank is the order, as it is until the next call of Place, in which a policy gives
	// each task to the first idle member, where tasks move nobody but the member that gets
	// them. Who runs it need not offer it all that are idle: while n tasks wait, each of
	// which fits every member offered, the first n idle members in that order are enough,
	// and the placements are the same.
	Rank func() Ranking
	// Alike says that of members offered that are as fast as each other, and idle with room
	// for one task, the policy gives the first the next task, and so on, while each fits, and
	// that it remembers no round. Who runs it need not ask it then.
	Alike bool
}
