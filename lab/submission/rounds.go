package submission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/lab/trials"
	"godwit/node"
	"godwit/scheduler/message"
	"godwit/task"
)

// mostAtOnce is the most points that get trials in one round, because a request names them.
const mostAtOnce = 100_000

// Rounds add trials to a job's points until the confidence interval of each point's mean is narrow enough.
type Rounds struct {
	Client *api.Client
	Job    task.JobID
	Rule   task.Trials
	// Follow waits until a job has ended and its results were checked.
	Follow func(task.JobID) (message.JobStatus, error)
	// Note prints progress for people.
	Note func(format string, args ...any)
}

// Run does rounds until no point gets more trials. Each round depends only on the results at the node and on earlier
// additions. So Run can be called again after a crash and repeats no trial, and two concurrent calls do not add the same
// trials. If a job did not end well, Run returns the error of Verdict for the first such job.
func (r *Rounds) Run(ctx context.Context) error {
	outdated := uint64(0)
	for {
		total, verdict, err := r.wait(ctx)
		if err != nil {
			return err
		}
		plan, err := r.plan(ctx)
		if err != nil {
			return errors.Join(err, verdict)
		}
		if len(plan.more) == 0 {
			r.tell(plan)
			return verdict
		}
		added, err := r.Client.Add(ctx, string(r.Job), api.AddRequest{More: plan.more, Tasks: total})
		switch {
		case api.IsOutdated(err) && outdated != total:
			outdated = total // somebody else has added tasks
			continue
		case err != nil:
			return err
		}
		r.Note("%d more trials of %d of %d points, as job %s", added.Tasks, len(plan.more), plan.points, added.ID)
	}
}

// wait waits until the job and all its additions have ended, and returns the number of their tasks.
func (r *Rounds) wait(ctx context.Context) (total uint64, verdict, err error) {
	ids, err := Family(ctx, r.Client, string(r.Job), false)
	for _, id := range ids {
		if err != nil {
			return 0, nil, err
		}
		var st message.JobStatus
		ends := false
		if st, err = r.Client.JobTasks(ctx, string(id), 0, 0); err == nil && !st.Settled() {
			ends = true
			st, err = r.Follow(id)
		}
		if err != nil {
			return 0, nil, err
		}
		// An addition that was cancelled before this call has no trials that count, and new ones may take their place.
		if stopped := st.State == message.JobCancelled || st.State == message.JobExpired; stopped && (ends || id == r.Job) {
			return 0, nil, Verdict(st)
		}
		total += st.Tasks.Total
		if verdict == nil {
			verdict = Verdict(st)
		}
	}
	return total, verdict, err
}

// roundPlan lists the trials that a round adds.
type roundPlan struct {
	more   []node.MoreTrials
	points int // of the job
	wide   int // points with a wide interval that had the most trials
	silent int // points without a number
}

// plan decides which points get more trials.
func (r *Rounds) plan(ctx context.Context) (p roundPlan, err error) {
	rule := trials.Rule{Most: r.Rule.Most, Within: r.Rule.Within, Relative: r.Rule.Relative}
	fields := map[string]bool{}
	tasks := uint64(0)
	err = EachPoint(ctx, r.Client, string(r.Job), false, func(point *PointSummary) error {
		p.points++
		s := point.Fields[r.Rule.Of]
		if s == nil {
			p.silent++
			for name := range point.Fields {
				if len(fields) < maxFields {
					fields[name] = true
				}
			}
			return nil
		}
		more := rule.More(s, point.Trials)
		if more == 0 && !rule.Narrow(s) {
			p.wide++
		}
		// The next round adds trials that do not fit into this one.
		if more = min(more, task.MaxAdded-tasks); more > 0 && len(p.more) < mostAtOnce {
			p.more = append(p.more, node.MoreTrials{Task: point.Task, Trials: more})
			tasks += more
		}
		return nil
	})
	if err == nil && p.silent == p.points && p.points > 0 {
		return p, noNumber(r.Rule.Of, slices.Sorted(maps.Keys(fields)))
	}
	return p, err
}

// noNumber is the error for a number that no result has.
func noNumber(of string, fields []string) error {
	hint := "a task writes it into result.json, or prints a number or an object as its last line"
	if len(fields) > 0 {
		const some = 10
		hint = "the numbers in the results are " + strings.Join(fields[:min(some, len(fields))], ", ")
	}
	return failure.Usage(hint, "no result has a number %q", of)
}

// tell prints the result of all rounds.
func (r *Rounds) tell(p roundPlan) {
	r.Note("%d of %d points have %s", p.points-p.wide-p.silent, p.points, &r.Rule)
	if p.wide > 0 {
		r.Note("%d points had %d trials, the most, and are not so narrow", p.wide, r.Rule.Most)
	}
	if p.silent > 0 {
		r.Note("%d points have no number %q, and get no more trials", p.silent, r.Rule.Of)
	}
}

// RuleOf returns the rule for a job's trials, or nil if the job has no rule.
func RuleOf(ctx context.Context, client *api.Client, ref string) (*task.Trials, error) {
	spec, err := specOf(ctx, client, ref)
	if err != nil {
		return nil, err
	}
	if spec.Adds != "" {
		return nil, failure.Usage(fmt.Sprintf("name job %s", table.ShortJob(spec.Adds)), "the job adds tasks to another one")
	}
	return spec.Trials, nil
}
