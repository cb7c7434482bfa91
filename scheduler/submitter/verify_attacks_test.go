package submitter

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/task"
)

// What a siege may cost, in percent of the job's tasks.
const (
	siegeMostWrong = 1  // wrong results that the submitter believes
	siegeMostOwn   = 20 // tasks that the submitter's machine runs again
)

// An outcome is the state of a job after a siege.
type outcome struct {
	held     int // wrong results that the submitter holds
	over     int // of these, results of a job that was delivered to its owner
	believed int // of these, results that it calls accepted or final
	later    int // of these, results that it calls final a month later
	own      int // tasks that it ran again
	alone    int // tasks that it ran because nothing usable came of them
	named    int // honest workers with a proven fault
	outvoted int // honest workers that lost their vote
	stalled  bool
}

// looks judges the job.
func (b *siege) looks() (o outcome) {
	o.own, o.alone, o.stalled = len(b.own), b.alone, !b.over() && !b.asksOwner()
	o.held, o.believed = b.wrong(message.StandingAccepted, message.StandingFinal, message.StandingReplaced)
	for n := range b.honest {
		switch c := b.s.audits.known(peerOf(siegeHonest + n)); {
		case c.Faults > 0:
			o.named++
		case !c.Outvoted.IsZero():
			o.outvoted++
		}
	}
	if b.over() {
		o.over = o.held
		b.now = b.now.Add(credibility.FinalAfter + time.Hour)
		b.act(message.Wake{})
		_, o.later = b.wrong(message.StandingFinal)
	}
	return o
}

// wrong counts the wrong results that are held, and those of them with one of some standings. Nobody doubts the
// results of a job without checks.
func (b *siege) wrong(as ...message.Standing) (held, standing int) {
	j := b.s.jobs[b.id]
	for i := range b.tasks {
		if !j.have.Contains(i) {
			continue
		}
		t := b.auditBench.held(i)
		if textOf(&t) == b.right(i) {
			continue
		}
		held++
		is, _ := b.s.Standings(b.id, []uint64{i})
		for _, s := range as {
			if is[0] == s || is[0] == "" && s == message.StandingFinal {
				standing++
				break
			}
		}
	}
	return held, standing
}

// faultsOf lists what misses the targets.
func (b *siege) faultsOf(o outcome) (out []string) {
	miss := func(is bool, what string, n int) {
		if is {
			out = append(out, fmt.Sprintf("%d %s", n, what))
		}
	}
	n := int(b.tasks)
	miss(100*o.believed > siegeMostWrong*n, "wrong results believed", o.believed)
	miss(100*o.later > siegeMostWrong*n, "wrong results final", o.later)
	miss(100*o.own > siegeMostOwn*n, "tasks run by the submitter", o.own)
	miss(o.named > 0, "honest workers named", o.named)
	miss(o.outvoted > 0, "honest workers outvoted", o.outvoted)
	if st, _ := b.s.Job(b.id); o.stalled {
		out = append(out, fmt.Sprintf("stalled, reason %q", st.Reason))
	}
	return out
}

// sieges runs attacks and reports each as a row of a table. GODWIT_SEEDS is the number of runs of each.
//
//	GODWIT_SEEDS=1 go test ./scheduler/submitter -run TestSiege -v -timeout 0
func sieges(t *testing.T, attacks []attack) {
	t.Helper()
	t.Logf("%-62s %5s %5s %5s %5s %5s %5s %5s %5s %6s %6s  %s", "attack", "held", "over", "belvd", "final", "own", "slow",
		"alone", "named", "outvtd", "rounds", "misses")
	for _, a := range attacks {
		for seed := range max(1, siegeSeeds(t)) {
			b := newSiege(t, a, uint64(seed))
			b.run()
			o := b.looks()
			row := fmt.Sprintf("%-62s %5d %5d %5d %5d %5d %5d %5d %5d %6d %6d", a.name, o.held, o.over, o.believed, o.later,
				o.own, b.slow, o.alone, o.named, o.outvoted, b.rounds)
			if faults := b.faultsOf(o); len(faults) > 0 {
				t.Errorf("%s  %s", row, strings.Join(faults, ", "))
			} else {
				t.Log(row)
			}
		}
	}
}

// siegeSeeds is the number of runs of each attack; 0 means one run of the most important attacks.
func siegeSeeds(t *testing.T) int {
	text := os.Getenv("GODWIT_SEEDS")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("GODWIT_SEEDS: %v", err)
	}
	return n
}

// fewOrAll returns all values where GODWIT_SEEDS is set, else only the last.
func fewOrAll[T any](t *testing.T, all ...T) []T {
	if siegeSeeds(t) > 0 {
		return all
	}
	return all[len(all)-1:]
}

// A siegeRule is a way in which a job's results are checked.
type siegeRule struct {
	name, verify string
	change       func(*task.Job)
	noCore       bool // it is for machines that lend none
}

// siegeRules are those of every attack.
var siegeRules = []siegeRule{
	{name: "3%", verify: "3%"},
	{name: "5%", verify: "5%"},
	{name: "1e-3", verify: "1e-3"},
	{name: "full", verify: "full"},
	{name: "confirm", verify: "5%", change: func(j *task.Job) { j.Verify.Confirm = "stdout contains " + siegeHit }},
	{name: "auditors", verify: "5%", noCore: true,
		change: func(j *task.Job) { j.Verify.Auditors = []task.PeerID{peerOf(siegeHonest)} }},
	{name: "replicas", verify: "3%", change: func(j *task.Job) { j.Replicas = 3 }},
}

// everyRule has an attack on jobs of every rule, with and without a lent core.
func everyRule(a attack) (out []attack) {
	for _, rule := range siegeRules {
		for _, lends := range []bool{true, false} {
			if lends && rule.noCore {
				continue
			}
			with := a
			with.verify, with.change, with.lends = rule.verify, rule.change, lends
			with.name = fmt.Sprintf("%-8s core %-5v %s", rule.name, lends, a.name)
			out = append(out, with)
		}
	}
	return out
}

// TestSiegeInventedResults: the attacker's leader, borrower or workers invent results, and its workers have from 1
// to 400 keys.
func TestSiegeInventedResults(t *testing.T) {
	const tasks, honest = 400, 20
	for _, who := range []attack{
		{name: "leader, all invented", leads: true, share: 100},
		{name: "leader, a tenth invented", leads: true, share: 10},
		{name: "leader, 3 in 100 invented", leads: true, share: 3},
		{name: "borrower", borrows: true},
		{name: "one worker in five", share: 20},
	} {
		t.Run(who.name, func(t *testing.T) {
			var rows []attack
			for _, keys := range fewOrAll(t, 1, 10, 100, 400) {
				a := who
				a.tasks, a.honest, a.keys, a.each = tasks, honest, keys, max(1, tasks/keys)
				a.name = fmt.Sprintf("%s, %d keys", who.name, keys)
				rows = append(rows, everyRule(a)...)
			}
			sieges(t, rows)
		})
	}
}

// TestSiegeVoters: the attacker's keys lend slots, so that the submitter draws them for re-runs, where they confirm
// each other's results and deny those of honest workers.
func TestSiegeVoters(t *testing.T) {
	const tasks, honest = 200, 20
	for _, known := range fewOrAll(t, false, true) {
		for _, leads := range fewOrAll(t, false, true) {
			for _, truthful := range []bool{false, true} {
				name := fmt.Sprintf("known %v, hostile leader %v, only outvotes %v", known, leads, truthful)
				t.Run(name, func(t *testing.T) {
					var rows []attack
					for _, keys := range fewOrAll(t, 5, 20, 80, 400) {
						for _, claims := range fewOrAll(t, siegeRun, time.Hour) {
							a := attack{name: fmt.Sprintf("%d voters that claim %v", keys, claims), tasks: tasks, honest: honest,
								known: known, keys: keys, each: max(1, tasks/keys), votes: true, leads: leads, truthful: truthful,
								claims: claims, share: 100}
							if truthful {
								a.share = 0
							}
							rows = append(rows, everyRule(a)...)
						}
					}
					sieges(t, rows)
				})
			}
		}
	}
}

// TestSiegeCost: the attacker wants the submitter to run the job alone, or the job to stall.
func TestSiegeCost(t *testing.T) {
	const honest = 20
	tasks := fewOrAll[uint64](t, 400, 160)[0]
	var rows []attack
	for _, a := range []attack{
		{name: "a caught key delivers again", leads: true, share: 100, keys: 1},
		{name: "unknown engine, one key", leads: true, share: 100, keys: 1, engine: "abacus"},
		{name: "unknown engine, key each", leads: true, share: 100, keys: 400, each: 1, engine: "abacus"},
		{name: "unknown engine from workers", share: 20, keys: 80, engine: "abacus"},
		{name: "2 in 100 wrong, all say arm64", share: 2, keys: 400, each: 1, engine: "arm64", alike: true},
		{name: "the borrower's garbage", borrows: true, keys: 20, garbage: true, share: 0},
		{name: "given-back tasks go to the attacker", leads: true, share: 50, keys: 20, votes: true},
	} {
		a.tasks, a.honest = tasks, honest
		rows = append(rows, everyRule(a)...)
	}
	sieges(t, rows)
}

// TestSiegeNewKeys: the attacker uses one key at a time, and the next as soon as the submitter refuses it.
func TestSiegeNewKeys(t *testing.T) {
	var rows []attack
	for _, share := range fewOrAll(t, 5, 20, 100) {
		a := attack{name: fmt.Sprintf("one key at a time, %d%% of the leases", share), tasks: 400, honest: 20, keys: 400,
			share: share}
		rows = append(rows, everyRule(a)...)
	}
	sieges(t, rows)
}

// TestSiegeSource: after a wrong result, nothing that its source delivered without a check counts, and the source
// is refused.
func TestSiegeSource(t *testing.T) {
	var rows []attack
	for _, keys := range fewOrAll(t, 10, 400) {
		rows = append(rows, everyRule(attack{name: fmt.Sprintf("borrower with %d keys, half of it right", keys),
			borrows: true, halves: true, keys: keys, each: max(1, 400/keys), honest: 20, tasks: 400})...)
	}
	sieges(t, rows)
}
