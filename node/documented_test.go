package node

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/migrate"
	"godwit/overlay"
	"godwit/scheduler/chunk"
	"godwit/scheduler/ledger"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
)

var (
	exampleOf   = regexp.MustCompile("overlay (?:create|change) [^`\n]*")
	exampleFlag = regexp.MustCompile(`--(placement|migration|fairness|chunking|predictor)[ =]([a-z][^\s"']*)`)
	// policyText is a policy with parameters in a document's text.
	policyText = regexp.MustCompile("`([a-z-]+):((?:[a-z_]+=[a-z0-9./_-]+,?)+)`")
)

// own is the policy that docs/policies.md adds to a program of the reader's.
const own = "roomiest"

// documentedRules are the policies of each command of the documents that founds or changes a pool, and each policy with
// parameters in their text.
func documentedRules(t *testing.T) map[string]OverlayRules {
	t.Helper()
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]OverlayRules{}
	add := func(r OverlayRules) {
		key := strings.Join([]string{r.Placement, r.Migration, r.Fairness, r.Chunking, r.Predictor}, " ")
		if strings.TrimSpace(key) != "" && !strings.HasPrefix(r.Placement, own) {
			out[key] = r
		}
	}
	for _, file := range append(files, "../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		joined := strings.ReplaceAll(string(text), "\\\n", " ")
		for _, command := range exampleOf.FindAllString(joined, -1) {
			var r OverlayRules
			for _, f := range exampleFlag.FindAllStringSubmatch(command, -1) {
				*map[string]*string{"placement": &r.Placement, "migration": &r.Migration, "fairness": &r.Fairness,
					"chunking": &r.Chunking, "predictor": &r.Predictor}[f[1]] = f[2]
			}
			add(r)
		}
		for _, m := range policyText.FindAllStringSubmatch(joined, -1) {
			add(rulesOf(m[1], m[1]+":"+m[2]))
		}
	}
	return out
}

// rulesOf are rules with one policy, of the kind that has its name; none if no kind has.
func rulesOf(name, policy string) OverlayRules {
	predictor := map[bool]string{true: "tde"}[strings.Contains(policy, ":n=")] // a parameter that only TDE has
	switch {
	case slices.Contains(place.Names(), name):
		return OverlayRules{Placement: policy, Predictor: predictor}
	case slices.Contains(migrate.Names(), name):
		return OverlayRules{Migration: policy, Predictor: predictor}
	case slices.Contains(share.Names(), name):
		return OverlayRules{Fairness: policy}
	case slices.Contains(chunk.Names(), name):
		return OverlayRules{Chunking: policy}
	}
	return OverlayRules{}
}

// everyPolicy are pools of which each has one policy with its defaults. FCFS, with which the others are compared, is first.
func everyPolicy() (out []OverlayRules) {
	out = append(out, OverlayRules{Placement: "fcfs", Migration: "none"})
	for _, p := range place.Names() {
		if p != "fcfs" {
			out = append(out, OverlayRules{Placement: p, Migration: "none"})
		}
	}
	for _, m := range migrate.Names() {
		out = append(out, OverlayRules{Placement: "fcfs", Migration: m})
	}
	for _, f := range share.Names() {
		out = append(out, OverlayRules{Placement: "fcfs", Migration: "none", Fairness: f})
	}
	for _, c := range chunk.Names() {
		out = append(out, OverlayRules{Placement: "fcfs", Migration: "none", Chunking: c})
	}
	return append(out, OverlayRules{}, OverlayRules{Predictor: "tde"}, OverlayRules{Placement: "fcfspp", Predictor: "tde"},
		OverlayRules{Placement: "psopp", Migration: "pspp", Predictor: "tde"})
}

// TestDocumentedPolicies: with ten days of history, a pool with any documented policy and its defaults completes a job of
// 50 tasks within 1.2 times the time of FCFS, or twice that time with a policy of chunks. While no member leaves, it moves at
// most one task of ten. The same holds for the examples in the documents.
func TestDocumentedPolicies(t *testing.T) {
	if raceEnabled {
		t.Skip("too slow under the race detector: run without it")
	}
	const tasks = 50
	examples := documentedRules(t)
	if len(examples) < 8 {
		t.Fatalf("the documents have only the examples %v", slices.Sorted(maps.Keys(examples)))
	}
	pools := everyPolicy()
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		pools = append(pools, examples[name])
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSwarm(t, 3)
		for i, p := range s.peers {
			p.runner.saves, p.runner.usual, p.cfg.Cores = true, true, 3
			if i > 0 {
				p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
			}
			p.givePast(0)
			p.start()
		}
		s.gather(s.peers...)
		var fcfs time.Duration
		for i, rules := range pools {
			rules.Name = "lab"
			took, moves := s.runPool(rules, tasks)
			if i == 0 {
				fcfs = took
			}
			t.Logf("%-10s %-10s %-22s %-14s %-6s %5.1f s, %d moves", rules.Placement, rules.Migration, rules.Fairness,
				rules.Chunking, cmp.Or(rules.Predictor, "blend"), took.Seconds(), moves)
			most := fcfs * 12 / 10
			if rules.Chunking != "" {
				most = 2 * fcfs // a chunk has several tasks, and the last chunk of so few decides
			}
			if took > most {
				t.Errorf("%+v: the job took %v, FCFS took %v", rules, took, fcfs)
			}
			if moves > tasks/10 {
				t.Errorf("%+v: %d moves of %d tasks", rules, moves, tasks)
			}
		}
	})
}

// runPool founds a pool of all peers, has it do a job, and ends it. It returns the time from the submission to the last
// result, and how often tasks moved.
func (s *swarm) runPool(rules OverlayRules, tasks int) (took time.Duration, moves int) {
	lab := s.poolOf(rules)
	founder := s.peers[0]
	begun := time.Now()
	id := founder.submitSaving(lab, tasks, 10*time.Second, time.Hour)
	s.within(30*time.Minute, "the job's end", func() bool { return founder.ended(id) })
	for _, one := range founder.finish(id, tasks) {
		for _, a := range one.Attempts {
			took = max(took, a.End.Sub(begun))
			if a.Outcome == ledger.Moved {
				moves++
			}
		}
	}
	for _, p := range s.peers {
		if err := p.LeaveOverlay(s.t.Context(), string(lab)); err != nil {
			s.t.Fatal(err)
		}
	}
	return took, moves
}

// poolOf founds a pool that all peers join, and waits until they know each other's histories.
func (s *swarm) poolOf(rules OverlayRules) overlay.ID {
	lab := s.peers[0].found(rules)
	for _, p := range s.peers[1:] {
		p.join(string(lab))
	}
	s.gatherIn(lab, s.peers...)
	<-time.After(15 * time.Second) // adverts go round
	return lab
}
