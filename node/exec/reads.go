package exec

import (
	"errors"
	"fmt"
	"time"

	"godwit/blocks"
	"godwit/sandbox"
	"godwit/task"
)

const (
	// readsAgain is how often files of other tasks are sought that nobody has at the moment, and readsMost for
	// how long: then the attempt is given back, and another worker may have them nearer.
	readsAgain = time.Second
	readsMost  = 30 * time.Second
)

// An unreadable is why a task cannot read what others made: by the job's own fault.
type unreadable string

func (u unreadable) Error() string { return string(u) }

// given are the files that an attempt reads of other tasks, staged.
type given struct {
	files []task.FileRef
	paths map[task.CID]string
	drop  func() // gives them up
}

// give brings what an attempt reads of other tasks here, from those that made it first, and stages it.
func (c *core) give(a *attempt) (g *given, err error) {
	r := a.reads
	if r == nil {
		return nil, nil
	}
	if r.Fault != "" {
		return nil, unreadable(r.Fault)
	}
	if err := a.job.spec.CheckReads(a.name.Task.Index, r.Files); err != nil {
		return nil, fmt.Errorf("the lease names files: %w", err)
	}
	remote := make([][]blocks.Root, len(r.Sources)+1) // by who made them
	var cids []task.CID
	var need int64
	for i := range r.Files {
		f := &r.Files[i]
		cids = append(cids, f.CID)
		need += 2 * f.Size // as blocks, and staged
		if int64(len(f.Inline)) != f.Size {
			by := min(int(r.Makers[i]), len(r.Sources))
			remote[by] = append(remote[by], blocks.Root{CID: f.CID, Bound: blocks.Exactly(f.Size)})
		}
	}
	if err := c.Content.MakeRoom(a.context, need, false); err != nil {
		return nil, err
	}
	release := c.Content.Hold(cids)
	defer func() {
		if err != nil {
			release()
		}
	}()
	for i := range r.Files {
		if f := &r.Files[i]; int64(len(f.Inline)) == f.Size {
			if _, err := c.Content.Blocks().ImportBytes(a.context, f.Inline); err != nil {
				c.Content.Failed(err)
				return nil, fmt.Errorf("storing what the task reads: %w", err)
			}
		}
	}
	if err := c.fetchReads(a, remote); err != nil {
		return nil, fmt.Errorf("bringing what the task reads of others: %w", err)
	}
	if !c.Runner.ReadsFiles() {
		return &given{drop: release}, nil
	}
	return c.stageReads(a, release)
}

// fetchReads fetches files from those that made them, and what these do not have from all that may.
func (c *core) fetchReads(a *attempt, remote [][]blocks.Root) error {
	var rest []blocks.Root
	for k, roots := range remote {
		if len(roots) == 0 {
			continue
		}
		if k == len(a.reads.Sources) || c.Content.Fetch(a.context, roots, a.reads.Sources[k:k+1]) != nil {
			rest = append(rest, roots...)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return c.fetchPatiently(a, rest)
}

// fetchPatiently fetches files from all that may have them, again and again while nobody does.
func (c *core) fetchPatiently(a *attempt, roots []blocks.Root) error {
	for until := time.Now().Add(readsMost); ; {
		err := c.Content.Fetch(a.context, roots, a.known)
		if err == nil || !errors.Is(err, blocks.ErrNotFound) || time.Now().After(until) {
			return err
		}
		select {
		case <-time.After(readsAgain):
		case <-a.context.Done():
			return a.context.Err()
		}
	}
}

// stageReads stages what an attempt reads, whose blocks are here until release.
func (c *core) stageReads(a *attempt, release func()) (*given, error) {
	g := &given{paths: map[task.CID]string{}}
	var staged []stagedName
	g.drop = func() {
		for _, n := range staged {
			c.staging.drop(n)
		}
		release()
	}
	for i := range a.reads.Files {
		f := &a.reads.Files[i]
		g.files = append(g.files, task.FileRef{Name: f.Name, CID: f.CID, Size: f.Size})
		if _, there := g.paths[f.CID]; there {
			continue
		}
		name := a.job.input(f.CID)
		path, err := c.staging.take(a.context, name, blocks.Exactly(f.Size), a.job.sealer)
		if err != nil {
			for _, n := range staged {
				c.staging.drop(n)
			}
			c.Content.Failed(err)
			return nil, err
		}
		staged = append(staged, name)
		g.paths[f.CID] = path
	}
	return g, nil
}

// invocation is what an attempt's task runs with, without what it reads of others, and the job of its stage.
func (c *core) invocation(a *attempt) (of *task.Job, inv task.Invocation, err error) {
	index := a.name.Task.Index
	of, _ = a.job.spec.At(index)
	inv, err = a.job.expand(a.context, index, a.holders)
	return of, inv, err
}

// addTo adds what a task reads of others to what it runs with; nil adds nothing.
func (g *given) addTo(inv *task.Invocation, spec *task.Job, index uint64) {
	if g == nil {
		return
	}
	stage, _ := spec.StageOf(index)
	if name := spec.Stages[stage].StdinFrom; name != "" {
		for i := range g.files {
			if g.files[i].Name == name {
				inv.Stdin = &g.files[i]
			}
		}
	}
	inv.Files = append(inv.Files, g.files...)
}

// vouches adds what an attempt read of other tasks to what this node says of a state that it left.
func (a *attempt) vouches(s *task.State) {
	if a.job != nil && task.SignsReads(a.job.spec, a.name.Task.Index) {
		s.Reads = a.reads.Name()
	}
}

// mayGoOn refuses a state that was made of other files of tasks before than the attempt reads.
func (a *attempt) mayGoOn(chain []task.Link) error {
	if a.job != nil && !task.MadeOf(a.job.spec, a.name.Task.Index, chain, a.reads.Name()) {
		return errors.New("the state was made of other files than this lease says that the task reads")
	}
	return nil
}

// refusedReads is the report of a task that cannot read what others made.
func refusedReads(why unreadable) sandbox.Report {
	return sandbox.Report{Outcome: task.OverQuota, Message: string(why)}
}

// modulesOf lists the programs of a job, each with the size that it may have.
func modulesOf(j *task.Job) []blocks.Root {
	var roots []blocks.Root
	for _, m := range j.Modules() {
		roots = append(roots, blocks.Root{CID: m, Bound: blocks.AtMost(sandbox.MaxModule)})
	}
	return roots
}
