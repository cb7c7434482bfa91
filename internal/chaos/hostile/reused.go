package hostile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"godwit/scheduler/message"
	"godwit/task"
)

// reusedRows are attacks by results of earlier jobs.
func reusedRows() []attack {
	return []attack{{id: "T9", play: playReused, plain: true, limit: reusedLimit,
		threat: "results of a worker with proven faults, reused",
		before: "a new job took over wrong results of a worker that the submitter itself had proven wrong"}}
}

const reusedLimit = 15 * playLimit / 4

// playReused has a worker answer jobs wrongly, proves it wrong by another job, and submits the first jobs again.
func playReused(ctx context.Context, f *field, row *Row) error {
	const tasks = 2
	wrong := func(l *message.Lease) *task.Result {
		r := saying(l.Task.Job, int(l.Task.Index), "made up")
		return &r
	}
	w, err := f.labour(ctx, fellow, "", 8, usualMachine, wrong)
	if err != nil {
		return err
	}
	var jobs []*prey
	var files []string
	if err := f.paused(ctx, func() error {
		for n := range f.Times {
			file, name, err := f.otherJob(n, tasks)
			if err != nil {
				return err
			}
			p := &prey{f: f, at: f.helper(), name: name, tasks: tasks}
			if err := p.run(ctx, file); err != nil {
				return err
			}
			jobs, files = append(jobs, p), append(files, file)
		}
		return nil
	}); err != nil {
		return err
	}
	taken, err := w.came()
	if err != nil {
		return err
	}
	if err := f.prove(ctx, w); err != nil {
		row.broke("the worker was not proven wrong, so that nothing was shown: %v", err)
		return nil
	}
	w.stranger.end()
	v := &Varied{Seed: f.Seed, Of: fmt.Sprintf("jobs that are submitted again after their worker, with %d leases, was "+
		"proven wrong", taken)}
	first := ""
	for n, p := range jobs {
		again := &prey{f: f, at: p.at, name: p.name, tasks: tasks}
		err := again.run(ctx, files[n])
		if err == nil {
			err = again.check(ctx)
		}
		if v.Runs++; err != nil {
			v.Succeeded++
			first = orFirst(first, "job %d: %v", n, err)
			continue
		}
		v.Right += tasks
	}
	row.judge(v, first)
	return nil
}

// otherJob writes the file of an unchecked job that resembles no other: a new job looks at few that it resembles.
func (f *field) otherJob(n, tasks int) (file, name string, err error) {
	defer func(usual string) { f.guest = usual }(f.guest)
	f.guest = filepath.Join(f.dir, fmt.Sprintf("guest%d.wasm", n))
	if err := os.WriteFile(f.guest, Guest(1_000_000+int64(n)), 0o600); err != nil {
		return "", "", err
	}
	return f.jobFile(tasks, "verify: \"off\"\n")
}

// run submits a job's file and waits until the job has ended, whatever it came to.
func (p *prey) run(ctx context.Context, file string) error {
	said, err := p.at.Verb(ctx, p.f.dir, "run", file, "--detach", "--overlay", openName)
	if err != nil {
		return err
	}
	p.id = task.JobID(said)
	return until(ctx, preyLimit, func() error {
		if v, err := p.view(ctx); err != nil || !v.Final {
			return fmt.Errorf("%d of %d results are there: %w", v.Held, p.tasks, errors.Join(err, errNotDone))
		}
		return nil
	})
}

// prove has a job checked in full of which the worker runs some tasks, until a check has found one wrong.
func (f *field) prove(ctx context.Context, w *worker) error {
	for try := range 5 {
		before, _ := w.came()
		file, name, err := f.jobFile(12, fmt.Sprintf("env: {PROOF: \"%d\"}\nverify: full\n", try))
		if err != nil {
			return err
		}
		p := &prey{f: f, at: f.helper(), name: name, tasks: 12}
		if err := p.run(ctx, file); err != nil {
			return err
		}
		after, err := w.came()
		if err != nil {
			return err
		}
		if after > before {
			return until(ctx, preyLimit, func() error {
				var v struct {
					Verify string                    `json:"verify"`
					Checks *struct{ Due, Wrong int } `json:"checks"`
				}
				switch err := p.at.Get(ctx, "/v1/jobs/"+string(p.id)+"?limit=0", &v); {
				case err != nil:
					return err
				case v.Checks == nil:
					return fmt.Errorf("the job is not checked, verify is %q", v.Verify)
				case v.Checks.Wrong == 0: // a node checks a part of a job by itself, even with full
					return fmt.Errorf("the job's checks are %+v", *v.Checks)
				}
				return nil
			})
		}
	}
	return errors.New("it was given no lease of a job that is checked")
}
