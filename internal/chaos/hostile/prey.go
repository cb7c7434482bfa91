package hostile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"godwit/task"
)

// A prey is a job of an honest project owner, handed in at the second node.
type prey struct {
	f     *field
	at    Node
	id    task.JobID
	name  string
	tasks int
	began time.Time
}

// A jobView is a job as its submitter sees it: the fields of the API that are looked at.
type jobView struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
	Error  string `json:"error"`
	Tasks  struct {
		Total, Waiting, Running, Done, Failed int
	} `json:"tasks"`
	Held   int        `json:"held"`
	Final  bool       `json:"final"`
	Reruns int        `json:"reruns"`
	List   []taskView `json:"tasks_list"`
}

type taskView struct {
	Index    int    `json:"index"`
	State    string `json:"state"`
	Attempts []struct {
		Worker         task.PeerID `json:"worker"`
		Outcome        string      `json:"outcome"`
		FromCheckpoint bool        `json:"from_checkpoint"`
	} `json:"attempts"`
}

// preyLimit is how long a few short tasks may take under an attack, on two slots of a busy
// machine.
const preyLimit = 90 * time.Second

// jobFile writes a job's file; more are lines of it.
func (f *field) jobFile(tasks int, more string) (file, name string, err error) {
	f.mu.Lock()
	f.jobs++
	name = fmt.Sprintf("job%d", f.jobs)
	f.mu.Unlock()
	text := fmt.Sprintf("name: %s\nmodule: %s\nargs: [\"{{.task}}\"]\nmemory: 64MiB\noutputs: [stdout]\n%ssweep:\n"+
		"  task: {from: 0, to: %d}\n", name, f.guest, more, tasks-1)
	file = filepath.Join(f.dir, name+".yaml")
	return file, name, os.WriteFile(file, []byte(text), 0o600)
}

// hunt hands a job in.
func (f *field) hunt(ctx context.Context, overlay string, tasks int, more string) (*prey, error) {
	file, name, err := f.jobFile(tasks, more)
	if err != nil {
		return nil, err
	}
	p := &prey{f: f, at: f.helper(), name: name, tasks: tasks, began: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, preyLimit)
	defer cancel()
	said, err := p.at.Verb(ctx, f.dir, "run", file, "--detach", "--overlay", overlay)
	p.id = task.JobID(strings.TrimSpace(said))
	if err != nil {
		return p, fmt.Errorf("an honest job was not accepted: %w", err)
	}
	return p, nil
}

func (p *prey) view(ctx context.Context) (v jobView, err error) {
	return v, p.at.Get(ctx, "/v1/jobs/"+string(p.id), &v)
}

// settle waits until the job is over, and returns what is wrong with what it came to.
func (p *prey) settle(ctx context.Context, limit time.Duration) error {
	var v jobView
	if err := until(ctx, limit, func() (err error) {
		if p.at.Ended() {
			return errors.New("its submitter has ended")
		}
		if v, err = p.view(ctx); err == nil && !v.Final {
			err = fmt.Errorf("%d of %d tasks are done, %d run, %d failed: %s %s", v.Tasks.Done, v.Tasks.Total, v.Tasks.Running,
				v.Tasks.Failed, v.State, v.Reason)
		}
		return err
	}); err != nil {
		return fmt.Errorf("an honest job does not end: %w", err)
	}
	if v.State != "done" || v.Held != p.tasks || v.Tasks.Done != p.tasks || v.Tasks.Failed > 0 {
		return fmt.Errorf("an honest job ended %s: %d of %d tasks done, %d failed, %d held: %s", v.State, v.Tasks.Done,
			p.tasks,
			v.Tasks.Failed, v.Held, v.Error)
	}
	return p.check(ctx)
}

// check reads the results that the submitter writes.
func (p *prey) check(ctx context.Context) error {
	out := filepath.Join(p.f.dir, p.name+".out")
	defer os.RemoveAll(out)
	if _, err := p.at.Verb(ctx, p.f.dir, "results", string(p.id), "--out", out); err != nil {
		return err
	}
	seen := map[int]bool{}
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		i := p.index(out, path)
		if string(b) != strconv.Itoa(i) || d.Name() != task.Stdout {
			return fmt.Errorf("task %d came to %.40q in %q", i, b, d.Name())
		}
		seen[i] = true
		return nil
	})
	if err == nil && len(seen) != p.tasks {
		err = fmt.Errorf("%d of %d results were written", len(seen), p.tasks)
	}
	return err
}

// index returns the task whose result a file is.
func (p *prey) index(out, path string) int {
	rel, _ := filepath.Rel(out, filepath.Dir(path))
	if i, err := strconv.Atoi(rel); err == nil {
		return i
	}
	return 0 // of a job of one task
}

// hunted hands jobs in, has them attacked, and judges what they come to.
func (f *field) hunted(ctx context.Context, row *Row, overlay string, tasks int, more string,
	attack func(p *prey) error) error {
	p, err := f.hunt(ctx, overlay, tasks, more)
	if err != nil {
		row.broke("%v", err)
		return nil
	}
	if err := attack(p); err != nil {
		return err
	}
	begun := time.Now()
	if err := p.settle(ctx, preyLimit); err != nil {
		row.broke("%v", err)
		return nil
	}
	v, err := p.view(ctx)
	if err != nil {
		return err
	}
	row.now("a job of %d tasks in %s under it right after %.1f s, %d tasks run again", tasks, overlay,
		time.Since(begun).Seconds(), v.Reruns)
	return nil
}
