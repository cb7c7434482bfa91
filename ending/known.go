package ending

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"godwit/trace"
)

// mostKnown is how many members are looked at one by one. Each costs a curve for each part of the day in which it
// comes; a draw runs mostMembers of them ahead, and by how much those differ from draw to draw is little beside
// paceSpread.
const mostKnown = 512

// spare is how many hosts each task is thought to need where the fastest are taken: some leave.
const spare = 2

// some leaves out members where they are very many, and returns which share of them is left: where a job has few
// tasks it has the fastest of those that are there, else any. Equal arguments give equal members, whatever their order.
func some(all []Member, tasks float64) ([]Member, float64) {
	if len(all) <= mostKnown {
		return all, 1
	}
	order := make([]int, 0, len(all))
	for i := range all {
		if all[i].Slots > 0 {
			order = append(order, i)
		}
	}
	if len(order) <= mostKnown {
		return picked(all, order), 1
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a].Peer, all[b].Peer) })
	if there := thereOf(all, order, tasks); len(there) >= mostMembers {
		slices.SortStableFunc(there, func(a, b int) int { return cmp.Compare(speedOf(&all[b]), speedOf(&all[a])) })
		return picked(all, there[:min(mostKnown, len(there))]), 1
	}
	rng := rand.New(rand.NewPCG(uint64(len(all)), mostKnown))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return picked(all, order[:mostKnown]), float64(mostKnown) / float64(len(order))
}

// thereOf are those members that run tasks now, by the numbers of all of them; none where a job has too many tasks for
// the fastest of them.
func thereOf(all []Member, numbers []int, tasks float64) (out []int) {
	if tasks*spare >= mostMembers {
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
