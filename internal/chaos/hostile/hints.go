package hostile

import (
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/node/informant"
	"godwit/task"
)

// hints are attacks on the choice of the member that a node queries for proofs. Package informant makes that choice.
func hints() []attack {
	return []attack{{id: "T17", each: playHints, threat: "trust reports that attract all queries for proofs",
		varies: "1 to 40 keys among 3 to 1,000 members; answers without a statement, or that cannot be decided; " +
			"1 to 30 reports between two queries",
		before: "a member with a new report every ten minutes got every query"}}
}

const (
	queryEvery = 10 * time.Minute // between two queries for proofs
	hintWeeks  = 2
)

// playHints plays one variation, and returns how the attack succeeded; "" if it did not. An honest member has a proof
// and reports it once a day.
func playHints(rng *rand.Rand) (string, error) {
	keys, members := 1+rng.IntN(40), 3+rng.IntN(998)
	reports, undecided := 1+rng.IntN(30), rng.IntN(2) == 1
	var all []informant.Member
	liars := map[task.PeerID]bool{}
	for i := range keys + members {
		m := informant.Member{Overlay: "pool", Peer: task.PeerID(fmt.Sprint("member ", i))}
		all = append(all, m)
		liars[m.Peer] = i < keys
	}
	honest := all[keys]
	c := informant.Choice{Draw: rng.IntN}
	now, byHint, total, proven := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), 0, 0, false
	for now.Before(time.Date(2026, 6, 1+7*hintWeeks, 12, 0, 0, 0, time.UTC)) {
		now, total = now.Add(queryEvery), total+1
		if now.Hour() == 0 && now.Minute() == 0 {
			c.Hint(honest, now)
		}
		for range reports {
			c.Hint(all[rng.IntN(keys)], now)
		}
		next, hinted := c.Hinted(now, func(informant.Member) bool { return true })
		if hinted && liars[next.Peer] {
			byHint++
		}
		if !hinted {
			next, _ = c.Random(all, now)
		}
		switch {
		case next == honest:
			proven = true
			c.Proven(next.Peer)
		case liars[next.Peer] && undecided:
			c.Open(next.Peer, now)
		default:
			c.Useless(next.Peer, now)
		}
	}
	// Each key attracts three queries, and three more after each week for which it is ignored.
	if most := informant.MostUseless * keys * (hintWeeks + 1); byHint > most || byHint > total/2 {
		return fmt.Sprintf("the reports of %d keys attracted %d of %d queries", keys, byHint, total), nil
	}
	if !proven {
		return fmt.Sprintf("among %d members and %d keys, the one with a proof was not queried in %d weeks", members, keys,
			hintWeeks), nil
	}
	return "", nil
}
