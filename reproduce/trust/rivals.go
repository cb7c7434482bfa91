package trust

import (
	"math/rand/v2"

	"godwit/credibility"
)

// A crowd is who works: a share of liars, of whom all do alike.
type crowd struct {
	liars   float64
	as      behaviour
	collude bool // liars that meet over one task tell the same lie
}

// A member is one worker of a crowd.
type member struct {
	liar  bool
	done  int
	valid int // in a row, as the adaptive rule counts
	rng   *rand.Rand
}

// An account is what a rule came to with a crowd.
type account struct {
	tasks, wrong int     // wrong ones among those delivered
	runs         float64 // of tasks, in all
	liars, found int     // of those that a rule can find
}

// extra is what was run beyond each task once, as a share.
func (a *account) extra() float64 { return a.runs/float64(a.tasks) - 1 }

// audit has a crowd do tasks, each member apart, and audits them.
func (c *crowd) audit(terms credibility.Terms, hosts, each int, rng *rand.Rand) account {
	var a account
	for _, m := range c.members(hosts, rng) {
		as := behaviour(honest)
		if m.liar {
			as = c.as
			a.liars++
		}
		met := meet(terms, as, each, m.rng)
		if met.found {
			a.found++
		}
		a.tasks += met.done
		a.wrong += met.wrong
		a.runs += float64(met.done) + float64(met.audited+met.again)/intervals
	}
	return a
}

func (c *crowd) members(n int, rng *rand.Rand) []*member {
	out := make([]*member, n)
	for i := range out {
		out[i] = &member{liar: float64(i) < c.liars*float64(n), rng: rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))}
	}
	rng.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// answer is what a member says of a task: 0 if it is right; two answers that are equal agree.
func (c *crowd) answer(m *member, who int) int {
	k := m.done
	m.done++
	if !m.liar || c.as(k, m.rng) == 0 {
		return 0
	}
	if c.collude {
		return -1
	}
	return who + 1
}

// adaptiveAfter is how many valid results in a row BOINC asks for before it trusts a host
// with a task alone (sched_send.cpp: then it does so but with probability 1 in as many).
const adaptiveAfter = 10

// A votingRule runs a task so often at once, and again until two agree.
type votingRule struct {
	name     string
	atOnce   int
	adaptive bool // once where the host is trusted
}

var votingRules = []votingRule{
	{"replicas 2", 2, false}, {"BOINC's adaptive rule", 2, true}, {"majority of three", 3, false},
}

// vote has a crowd do tasks by a rule. Hosts whose answer loses are not excluded: no rule has
// a proof.
func (c *crowd) vote(rule votingRule, hosts, each int, rng *rand.Rand) account {
	members := c.members(hosts, rng)
	var a account
	for range hosts * each {
		order := rng.Perm(hosts)
		if rule.adaptive && trusted(members[order[0]], rng) {
			a.tasks, a.runs = a.tasks+1, a.runs+1
			if c.answer(members[order[0]], order[0]) != 0 {
				a.wrong++
			}
			continue
		}
		a.tasks++
		votes := map[int][]*member{}
		for i, who := range order {
			say := c.answer(members[who], who)
			votes[say] = append(votes[say], members[who])
			a.runs++
			if winner, ok := agreed(votes); ok && i+1 >= rule.atOnce {
				if winner != 0 {
					a.wrong++
				}
				settle(votes, winner)
				break
			}
		}
	}
	return a
}

func trusted(m *member, rng *rand.Rand) bool {
	return m.valid >= adaptiveAfter && rng.Float64() >= 1/float64(m.valid)
}

// agreed returns the answer that most gave, two at least.
func agreed(votes map[int][]*member) (winner int, ok bool) {
	most := 1
	for say, ms := range votes {
		if n := len(ms); n > most || n == most && most > 1 && say > winner {
			winner, most = say, n
		}
	}
	return winner, most > 1
}

// settle counts who was valid.
func settle(votes map[int][]*member, winner int) {
	for say, ms := range votes {
		for _, m := range ms {
			if m.valid++; say != winner {
				m.valid = 0
			}
		}
	}
}
