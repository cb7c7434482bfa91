package ending

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"godwit/trace"
)

// bounds are how much of a swarm is looked at.
type bounds struct {
	known  int // members, one by one: each costs a curve for each part of the day in which it comes
	drawn  int // of those, members of one draw; by how much they differ from draw to draw is little beside paceSpread
	events int // of one draw; what is left then is done at the rate until then
}

// usualBounds hold where a job's tasks are few for the members, so its end is that of its last ones. manyBounds hold
// where each slot has manyRounds of tasks to run and more: then the end is a matter of means, which fewer tell as well
// (TestFewMembersTellTheSame), and of days to come, which take the more events the more members there are.
var (
	usualBounds = bounds{known: 512, drawn: 192, events: 12_000}
	manyBounds  = bounds{known: 192, drawn: 64, events: 4000}
)

const manyRounds = 32

// boundsFor are those for a job of so many tasks, where no member is believed to have more than most slots.
func boundsFor(members []Member, most int, tasks float64) bounds {
	slots := 0
	for i := range members {
		slots += min(members[i].Slots, most)
	}
	if tasks < manyRounds*float64(slots) {
		return usualBounds
	}
	return manyBounds
}

// spare is how many hosts each task is thought to need where the fastest are taken: some leave.
const spare = 2

// some leaves out members where they are more than that many, and returns which share of them is left: where a job
// has few tasks it has the fastest of those that are there, else any. Equal arguments give equal members, whatever
// their order.
func some(all []Member, tasks float64, most int) ([]Member, float64) {
	if len(all) <= most {
		return all, 1
	}
	order := make([]int, 0, len(all))
	for i := range all {
		if all[i].Slots > 0 {
			order = append(order, i)
		}
	}
	if len(order) <= most {
		return picked(all, order), 1
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a].Peer, all[b].Peer) })
	if there := thereOf(all, order, tasks); len(there) >= usualBounds.drawn {
		slices.SortStableFunc(there, func(a, b int) int { return cmp.Compare(speedOf(&all[b]), speedOf(&all[a])) })
		return picked(all, there[:min(most, len(there))]), 1
	}
	rng := rand.New(rand.NewPCG(uint64(len(all)), uint64(most)))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return picked(all, order[:most]), float64(most) / float64(len(order))
}

// thereOf are those members that run tasks now, by the numbers of all of them; none where a job has too many tasks for
// the fastest of them.
func thereOf(all []Member, numbers []int, tasks float64) (out []int) {
	if tasks*spare >= float64(usualBounds.drawn) {
		return nil
	}
	for _, i := range numbers {
		if all[i].State == trace.Available {
			out = append(out, i)
		}
	}
	return out
}

func picked(all []Member, numbers []int) []Member {
	out := make([]Member, 0, len(numbers))
	for _, i := range numbers {
		out = append(out, all[i])
	}
	return out
}
