package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/internal/chaos/walk"
)

const (
	scenarioLiars = "liars"
	// liarNodes and liarTasks are what the scenario has where nothing else is asked for.
	liarNodes = 12
	liarTasks = 300
	// shortSteps is how far a short task walks: about a tenth of a second of a core, so that all nodes get some.
	shortSteps = 30_000_000
	// longShare is one of how many tasks is long, and longSteps how far those walk: a third of a second of a
	// core, which longParts divides so that each has a trail of more than eight parts. Most of them are
	// checked: with more they would run again as a whole where nothing is known of a worker.
	longShare  = 8
	longSteps  = 150_000_000
	longParts  = 15 * time.Millisecond
	longVerify = "80%"
	// verifyUsual is what jobs say of verify where nothing else is asked for.
	verifyUsual = "1e-3"
	// liarLimit bounds how long the jobs may take, with all that is run again.
	liarLimit = 12 * time.Minute
	// liarPoll is how often the submitter is asked how far that is.
	liarPoll = time.Second
	// lieEnv tells a node of the build that lies how to, liedEnv in which file to count: node/exec/liar.go.
	lieEnv  = "GODWIT_LIE"
	liedEnv = "GODWIT_LIED"
)

// lied is what is asked of the scenario in which nodes lie.
type lied struct {
	liar   string // the binary that does
	kinds  string // how; "" is as the seed says
	verify string // of the jobs
	lends  bool   // the submitter's node lends cores, and so sees for itself who is wrong
}

// A checkedJob is one that ended with all checked.
type checkedJob struct {
	*job
	st    jobView
	wrong map[int]bool // results that are, of what is held
}

// liars has some of the nodes lie, each in its own way, about the tasks of two jobs, of short tasks and
// of long: what they come to has to be right as far as it is said to be, and every liar named, by
// proofs that hold where no node runs.
func liars(ctx context.Context, t *trial) error {
	if t.liar == "" {
		return skip("there is no binary that lies: --liar")
	}
	kinds, err := kindsOf(t.kinds, t.seed)
	if err != nil {
		return err
	}
	if !t.lied.lends && slices.ContainsFunc(kinds, func(l lie) bool { return l.name == liesKeep }) {
		return fmt.Errorf("--kinds %s: nobody else ends the jobs of a submitter that lends no core", liesKeep)
	}
	if len(kinds) > t.options.nodes-2 {
		return fmt.Errorf("%d liars among %d nodes: one leads at first, and one submits", len(kinds), t.options.nodes)
	}
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	crowd := t.appoint(kinds, t.rng)
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
	jobs, err := t.submitLied(ctx, at)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		j.st, err = t.awaitChecked(ctx, j.job)
		if !t.report.must(j.name+" ends, and all is checked that is to be", err) {
			return nil
		}
	}
	t.report.show("from submission until then", "", "%.1f s", time.Since(jobs[0].handed).Seconds())
	for _, j := range jobs {
		t.judgeResults(ctx, j)
	}
	t.judgeNames(ctx, jobs, crowd)
	t.judgeTold(ctx, jobs)
	return nil
}

// submitLied hands in both jobs, the long tasks first: so each node gets some of them.
func (t *trial) submitLied(ctx context.Context, at *node) ([]*checkedJob, error) {
	module, err := t.module(ctx)
	if err != nil {
		return nil, err
	}
	walks := func(steps uint64, verify, more string) labour {
		leap := walk.NewLeap(steps)
		return labour{module: module,
			rules: fmt.Sprintf("args: [\"{{.task}}\", \"%d\"]\nmemory: 16MiB\nverify: %s\n%s", steps, verify, more),
			want:  func(i int) string { return fmt.Sprintln(leap.From(max(uint64(i), 1))) }}
	}
	verifyLong := longVerify
	if t.lied.verify != verifyUsual {
		verifyLong = t.lied.verify
	}
	short := walks(shortSteps, t.lied.verify, "")
	long := walks(longSteps, verifyLong, fmt.Sprintf("parts: %v\n", longParts))
	number := max(1, t.options.tasks/longShare)
	var out []*checkedJob
	for _, l := range []struct {
		name  string
		tasks int
		labour
	}{{"long", number, long}, {"short", max(1, t.options.tasks-number), short}} {
		j, err := t.submitLabour(ctx, at, l.name, l.tasks, l.labour, acceptLimit)
		if err != nil {
			return nil, err
		}
		out = append(out, &checkedJob{job: j, wrong: map[int]bool{}})
	}
	return out, nil
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

// judgeResults compares every result with the right one, and says what it cost to have them checked.
func (t *trial) judgeResults(ctx context.Context, j *checkedJob) {
	err := t.eachResult(ctx, j.job, func(i int, got string) {
		if got != j.labour.want(i) {
			j.wrong[i] = true
		}
	})
	final, accepted, parts := 0, 0, 0
	for _, k := range j.st.List {
		if k.Parts != nil {
			parts += k.Parts.Checked
		}
		switch {
		case !j.wrong[k.Index]:
		case k.Standing == "final" || k.Standing == "replaced":
			final++
		default:
			accepted++
		}
	}
	if j.st.Checks == nil {
		err = errors.Join(err, errors.New("the job says nothing of checks"))
		j.st.Checks = &checkView{}
	}
	c := j.st.Checks
	t.report.must(j.name+": the results can be fetched", err)
	t.report.expect(j.name+": no wrong result is final", final == 0 && err == nil, "%d are", final)
	again := c.Right + c.Wrong + c.Open
	t.report.show(j.name+": run again here, of all results", "", "%d of %d (%.0f %%), and %d parts", again, j.tasks,
		100*float64(again)/float64(j.tasks), parts)
	t.report.show("  right, wrong and replaced, not to be told", "", "%d, %d, %d", c.Right, c.Wrong, c.Open)
	t.report.show("  accepted after parts, and wrong ones that are accepted or unchecked", "", "%d, %d", c.Accepted, accepted)
	t.report.show("  to which others came, too", "", "%d", c.Agreed)
	t.report.show("  runs that attempts tell of", "", "%d", j.st.runs())
	t.report.show("  processor time of all results", "", "%.1f s", j.st.UsefulCPU)
}

// runs is how many attempts of a job's tasks came to an end.
func (st jobView) runs() (n int) {
	for _, k := range st.List {
		for _, a := range k.Attempts {
			if a.Outcome == "completed" {
				n++
			}
		}
	}
	return n
}

// ran is how many of these a peer brought.
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
