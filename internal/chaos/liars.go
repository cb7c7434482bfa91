package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

const (
	scenarioLiars = "liars"
	// liarNodes and liarTasks are what the scenario has where nothing else is asked for.
	liarNodes = 12
	liarTasks = 300
	// liarLimit bounds how long the job may take, with all that is run again.
	liarLimit = 6 * time.Minute
	// liarPoll is how often the submitter is asked how far that is.
	liarPoll = time.Second
	// toldWrong is a part of what `godwit status` says to the owner of a machine that errs.
	toldWrong = "of this machine were found wrong"
	// lieEnv tells a node of the build that lies how to: node/exec/liar.go.
	lieEnv = "GODWIT_LIE"
)

// lies are the ways in which nodes lie, or err, one node each: among the coordinators, too.
var lies = []struct {
	name string
	node int
}{
	{"lazy", 1},   // makes results up and runs nothing
	{"one", 3},    // one of five results has a wrong bit
	{"late", 5},   // is honest ten times, and then never
	{"agreed", 7}, // says what others of its kind would say
	{chance, 9},   // does not lie, but its memory loses bits
	{errs, 8},     // does not lie, but its compiler errs
}

// chance is the kind of node whose results may all be right. errs is the kind that nobody is to
// name, and errsOn the architecture that it has.
const (
	chance = "bit"
	errs   = "engine"
	errsOn = "riscv64"
)

// lied is what is asked of the scenario in which nodes lie.
type lied struct {
	liar   string // the binary that does
	verify string // of the job
	lends  bool   // the submitter's node lends cores, and so sees for itself who is wrong
}

// liars has some of the nodes lie, each in its own way, about the tasks of one job: what it
// comes to has to be right as far as it is said to be, and every liar named, by proofs that hold
// where no node runs.
func liars(ctx context.Context, t *trial) error {
	if t.liar == "" {
		return skip("there is no binary that lies: --liar")
	}
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	kinds := map[string]string{} // of liars, by peer
	for _, kind := range lies {
		n := t.nodes[kind.node]
		n.binary, n.launch = t.liar, []string{"env", lieEnv + "=" + kind.name}
	}
	at := t.nodes[len(t.nodes)-1]
	if !t.lied.lends {
		lazy, err := t.ruled("lends-nothing.yaml", 0)
		if err != nil {
			return err
		}
		at.rules = lazy
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	for _, kind := range lies {
		kinds[t.nodes[kind.node].peer] = kind.name
	}
	l, err := t.labour(ctx)
	if err != nil {
		return err
	}
	l.rules += "verify: " + t.lied.verify + "\n"
	j, err := t.submitLabour(ctx, at, "lied", t.options.tasks, l, acceptLimit)
	if err != nil {
		return err
	}
	st, err := t.awaitChecked(ctx, j)
	if !t.report.must("the job ends, and all is checked that is to be", err) {
		return nil
	}
	t.report.show("from submission until then", "", "%.1f s", time.Since(j.handed).Seconds())
	t.judgeResults(ctx, j, st)
	if t.lied.lends {
		t.judgeNames(ctx, j, st, kinds)
	} else {
		t.judgeVotes(st)
	}
	t.judgeTold(ctx, st, kinds)
	return nil
}

// awaitChecked waits until a job is over with nothing to be run again.
func (t *trial) awaitChecked(ctx context.Context, j *job) (jobView, error) {
	var st jobView
	ctx, cancel := context.WithTimeout(ctx, liarLimit)
	defer cancel()
	tick := time.NewTicker(liarPoll)
	defer tick.Stop()
	for {
		if now, err := j.at.ask.job(ctx, j.id); err == nil {
			if st = now; st.Final && (st.Checks == nil || st.Checks.Due == 0) {
				return st, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return st, fmt.Errorf("held are %d of %d results, %+v: %w", st.Held, j.tasks, st.Checks, ctx.Err())
		}
	}
}

// judgeResults compares every result with the right one.
func (t *trial) judgeResults(ctx context.Context, j *job, st jobView) {
	wrong := map[int]bool{}
	err := t.eachResult(ctx, j, func(i int, got string) {
		if got != j.labour.want(i) {
			wrong[i] = true
		}
	})
	final, accepted := 0, 0
	for _, k := range st.List {
		switch {
		case !wrong[k.Index]:
		case k.Standing == "accepted":
			accepted++
		default:
			final++
		}
	}
	c := st.Checks
	t.report.must("the results can be fetched", err)
	t.report.expect("no wrong result is final", final == 0 && err == nil, "%d are", final)
	t.report.show("run again here, of all results", "", "%d of %d", c.Right+c.Wrong+c.Open, j.tasks)
	t.report.show("  right, wrong and replaced, not to be told", "", "%d, %d, %d", c.Right, c.Wrong, c.Open)
	t.report.show("accepted without, and wrong of these", "", "%d, %d", c.Accepted, accepted)
	t.report.show("processor time of all results", "", "%.1f s", st.UsefulCPU)
}

// judgeVotes checks what came of a job whose submitter's node ran nothing: others compared for it.
func (t *trial) judgeVotes(st jobView) {
	named, runs := 0, 0
	for _, k := range st.List {
		if k.Refuted != nil {
			named++
		}
	}
	for _, n := range t.nodes {
		runs += st.ran(n.peer)
	}
	c := st.Checks
	t.report.expect("nobody is named without a run of the submitter's own", named+c.Right+c.Wrong == 0, "%d are", named)
	t.report.show("accepted since others came to the same", "", "%d", c.Agreed)
	t.report.show("runs that attempts tell of", "", "%d", runs)
}

// judgeNames checks who is named, and the first proof against each.
func (t *trial) judgeNames(ctx context.Context, j *job, st jobView, kinds map[string]string) {
	honest := ""
	proofs := map[string]int{} // the first task that names a peer
	lies := map[string]int{}
	for _, k := range st.List {
		w := k.Refuted
		switch {
		case w == nil:
		case w.By == "" && kinds[w.Signed] == errs:
			lies[w.Signed]++
		case kinds[w.By] == "" || kinds[w.By] == errs:
			honest += fmt.Sprintf("; task %d names %q: %s", k.Index, w.By, w.Why)
		default:
			if lies[w.By]++; lies[w.By] == 1 {
				proofs[w.By] = k.Index
			}
		}
	}
	t.report.expect("nobody is named who does not lie", honest == "", "%.500s", honest)
	for peer, kind := range kinds {
		index, named := proofs[peer]
		ran := st.ran(peer)
		t.report.show(fmt.Sprintf("the liar %q: results, found wrong", kind), "", "%d, %d", ran, lies[peer])
		if kind == errs {
			found := lies[peer] > 0
			t.report.expect("a compiler that errs is found, and nobody is blamed",
				(st.Checks.Divergent == errsOn) == found && (ran == 0 || found),
				"its program diverges on %q, and it signed %d results", st.Checks.Divergent, ran)
			continue
		}
		switch {
		case ran == 0:
			t.report.show(fmt.Sprintf("the liar %q", kind), "", "had no task")
			continue
		case kind == chance && lies[peer] == 0:
			t.report.show(fmt.Sprintf("the liar %q", kind), "", "made no wrong result")
			continue
		}
		if t.report.expect(fmt.Sprintf("the liar %q is named", kind), named, "it signed %d results", ran) {
			t.report.must(fmt.Sprintf("where no node runs, the proof against %q holds", kind), t.proves(ctx, j, index, peer))
		}
	}
}

// judgeTold checks whose owners are told that their machines err: theirs whose results were found
// wrong, and nobody else's.
func (t *trial) judgeTold(ctx context.Context, st jobView, kinds map[string]string) {
	named := map[string]bool{}
	for _, k := range st.List {
		if k.Refuted != nil {
			named[k.Refuted.By] = true
		}
	}
	var wrong []string
	for _, n := range t.nodes {
		said, err := n.verb(ctx, "status")
		if told := strings.Contains(said, toldWrong); err != nil || told != named[n.peer] {
			wrong = append(wrong, fmt.Sprintf("node %d (%s): told %v, named %v, %v", n.index, kinds[n.peer], told,
				named[n.peer], err))
		}
	}
	t.report.expect("the owners of these machines are told, nobody else's", len(wrong) == 0, "%v", wrong)
}

// ran is how many attempts of a job's tasks a peer brought to an end.
func (st jobView) ran(peer string) (n int) {
	for _, k := range st.List {
		for _, a := range k.Attempts {
			if a.Worker == peer && a.Outcome == "completed" {
				n++
			}
		}
	}
	return n
}

// proves saves a proof at the submitter and has it checked with another user's directories.
func (t *trial) proves(ctx context.Context, j *job, index int, peer string) error {
	file := filepath.Join(t.dir, fmt.Sprintf("task%d.proof", index))
	if _, err := j.at.verb(ctx, "proof", "save", j.id, fmt.Sprint(index), "--out", file); err != nil {
		return err
	}
	said, err := t.elsewhere(ctx, "proof", "check", file, "--json")
	if err != nil {
		return err
	}
	var f struct{ Verdict, By string }
	switch err := json.NewDecoder(strings.NewReader(said)).Decode(&f); {
	case err != nil:
		return err
	case f.Verdict != "proven" || f.By != peer:
		return errors.New("it finds " + said)
	}
	return nil
}
