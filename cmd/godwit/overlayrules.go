package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"godwit/internal/failure"
	"godwit/migrate"
	"godwit/node"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// rulesFlags are the rules of an overlay as flags.
type rulesFlags struct {
	placement, migration   string
	predictor              string
	fairness, chunking     string
	coordinators, replicas int
	admission, verify      string
	cells                  string
	slotsEach              int
	allow, trust           []string
	priorities, revoke     bool
}

func (r *rulesFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.placement, "placement", "",
		"`POLICY` that says where tasks go, such as fcfspp; "+place.Default+" is the usual")
	f.StringVar(&r.migration, "migration", "",
		"`POLICY` that says when running tasks move, such as pspp; "+migrate.Default+
			" is the usual, with none they stay")
	f.StringVar(&r.predictor, "predictor", "",
		"`PREDICTOR` that gives the policies their forecasts, such as tde, which Zhang's were published with; "+
			predictor.Default+" is the usual")
	f.StringVar(&r.fairness, "fairness", "",
		"`POLICY` that says whose turn it is, such as sep; "+share.Default+" is the usual; where none is named, placement "+
			"policies that go by classes choose that, too")
	f.StringVar(&r.chunking, "chunking", "",
		"`POLICY` that says how many tasks of a sweep a member is given at once, such as gss; "+
			chunk.Default+" is the usual")
	f.IntVar(&r.coordinators, "coordinators", 0, fmt.Sprintf("`N` members hold the ledger, 1 to %d; 3 is the usual",
		node.MaxCoordinators))
	f.StringArrayVar(&r.trust, "trust", nil,
		"`ID` of a peer that may coordinate; then no other may (repeatable; together the whole list)")
	f.IntVar(&r.replicas, "replicas", 0, "at least `N` runs of every task must agree; what the job asks is the usual")
	f.StringVar(&r.verify, "verify", "", "every job's results are checked at least like `THIS`: 5% (of the tasks are run "+
		"again), 1e-3 (at most so many wrong), full, or off (the usual): what the job says")
	f.BoolVar(&r.priorities, "priorities", false, "the priorities of jobs count, with --admission open, too, where "+
		"otherwise all jobs are equal; with another admission they always do")
	f.StringVar(&r.cells, "cells", "", "`MODE` for pools of more than 500 members: "+node.CellsOn+
		" (the default) divides them into cells, "+node.CellsOff+" doesn't")
	f.IntVar(&r.slotsEach, "slots-each", 0, "at most `N` slots at a time for the jobs of one submitter, in each cell; 0 is "+
		"no limit; not with --admission open")
	f.StringVar(&r.admission, "admission", "", "`WHO` may join: open (the usual), invited, or listed (see --allow)")
	f.StringArrayVar(&r.allow, "allow", nil,
		"`ID` of a peer that may join, for --admission listed (repeatable; together the whole list)")
}

// given says whether any rule was.
func (r *rulesFlags) given(f *pflag.FlagSet) bool {
	return r.revoke || slices.ContainsFunc([]string{"placement", "migration", "predictor", "fairness", "chunking", "coordinators",
		"trust", "replicas", "verify", "priorities", "cells", "slots-each", "admission", "allow"}, f.Changed)
}

// apply changes the rules whose flags were given.
func (r *rulesFlags) apply(f *pflag.FlagSet, rules *node.OverlayRules) error {
	given := f.Changed
	if given("placement") {
		rules.Placement = r.placement
	}
	if given("migration") {
		rules.Migration = r.migration
	}
	if given("predictor") {
		rules.Predictor = r.predictor
	}
	if given("fairness") {
		rules.Fairness = r.fairness
	}
	if given("chunking") {
		rules.Chunking = r.chunking
	}
	if given("coordinators") {
		rules.Coordinators = r.coordinators
	}
	if given("replicas") {
		rules.Replicas = r.replicas
	}
	if given("verify") {
		rules.Verify = r.verify
	}
	if given("admission") {
		rules.Admission = r.admission
		if r.admission != node.AdmitListed {
			rules.Allowed = nil // the list goes with its rule
		}
		if r.admission != node.AdmitOpen {
			rules.Priorities = false // likewise
		}
		if r.admission == node.AdmitOpen {
			rules.SlotsEach = 0 // an open pool has none
		}
	}
	if given("priorities") {
		rules.Priorities = r.priorities
	}
	if given("cells") {
		rules.Cells = r.cells
	}
	if given("slots-each") {
		rules.SlotsEach = r.slotsEach
	}
	if given("allow") {
		rules.Allowed = peerIDs(r.allow)
	}
	if given("trust") {
		rules.Trusted = peerIDs(r.trust)
	}
	rules.RevokeInvitations = r.revoke
	return checkRules(rules)
}

// peerIDs are the peers named in a flag. An empty name takes the list back.
func peerIDs(names []string) []task.PeerID {
	var list []task.PeerID
	for _, name := range names {
		if name != "" {
			list = append(list, task.PeerID(name))
		}
	}
	return list
}

// checkRules says what is wrong with rules before a node is asked, and what
// would be right.
func checkRules(rules *node.OverlayRules) error {
	if err := rules.Check(); err != nil {
		return failure.Usage(rulesHint(rules), "%w", err)
	}
	return nil
}

func rulesHint(rules *node.OverlayRules) string {
	if len(rules.Allowed) > 0 && rules.Admission != node.AdmitListed {
		return "--allow goes with --admission " + node.AdmitListed
	}
	if rules.Priorities && rules.Admission != node.AdmitOpen && rules.Admission != "" {
		return "--priorities goes with --admission " + node.AdmitOpen
	}
	if !slices.Contains([]string{"", node.CellsOn, node.CellsOff}, rules.Cells) {
		return "--cells takes " + node.CellsOn + " or " + node.CellsOff
	}
	if _, err := task.ParseVerify(cmp.Or(rules.Verify, "off")); err != nil {
		return "--verify takes off, 5%, 1e-3 or full"
	}
	for _, p := range slices.Concat(rules.Allowed, rules.Trusted) {
		if _, err := p.PublicKey(); err != nil {
			return "--allow and --trust take a whole peer ID, as `godwit status` prints it on that machine"
		}
	}
	return "`godwit overlay create --help` tells what rules there are"
}

// policies is the part of a help text that lists what the rules can name.
func policies() string {
	return "\nPlacement policies:\n" + indent(place.DescribeWith(predictor.Default)) +
		"\nMigration policies; a task that moves goes on where it stopped, at a member that the placement policy " +
		"chooses:\n" + indent(migrate.DescribeWith(predictor.Default)) +
		"\nPredictors, which give the policies their forecasts:\n" + indent(predictor.Describe()) +
		"\nFairness policies, which divide idle slots among jobs:\n" + indent(share.Describe()) +
		"\nChunking policies, which divide a sweep among members:\n" + indent(chunk.Describe())
}
