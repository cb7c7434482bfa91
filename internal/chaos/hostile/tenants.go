package hostile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// tenants are about what one job can learn of another on the same machine.
func tenants() []attack {
	return []attack{
		{id: "T7", play: playTenants, plain: true, limit: 15 * time.Minute,
			threat: "a sandbox process that serves two tenants",
			before: "tasks of a closed overlay and of an open pool ran one after the other in one process, which still had " +
				"the first tenant's inputs: in 58 of 100 runs"},
		{id: "T8", play: playKeys, plain: true, limit: 15 * time.Minute, threat: "a sealing key that jobs share",
			before: "all jobs of one name had one key, so that a worker of one could read all later ones"},
	}
}

// ticks is how much processor time a process must have used to count as one that ran a task.
const ticks = 50 * time.Millisecond

// restFor is how long processes use no processor time before the next job is submitted.
const restFor = 300 * time.Millisecond

// playTenants runs jobs of one module for two overlays in turn. The attack succeeds where a process that ran tasks of
// one overlay runs tasks of the other.
func playTenants(ctx context.Context, f *field, row *Row) error {
	v := &Varied{Seed: f.Seed, Of: "jobs of one module for a closed overlay and an open pool, in turn, on two real nodes"}
	first := ""
	served := map[child]string{} // the last overlay whose tasks a process ran
	last := openName
	for n := range f.Times {
		name := []string{openName, closedName}[f.rng.IntN(2)]
		if n%2 == 1 && name == last {
			name = map[string]string{openName: closedName, closedName: openName}[last]
		}
		before, err := f.restingChildren(ctx)
		if err != nil {
			return err
		}
		// Other results are not reused, and no check of this job runs beside the next one.
		p, err := f.hunt(ctx, name, 1+f.rng.IntN(4), fmt.Sprintf("env: {RUN: \"%d\"}\nverify: \"off\"\n", n))
		if err != nil {
			return err
		}
		err = p.settle(ctx, preyLimit)
		if v.Runs++; err != nil {
			v.Lost += p.tasks
			first = orFirst(first, "job %d: %v", n, err)
			continue
		}
		v.Right += p.tasks
		shared := false
		for c, busy := range f.busyChildren() {
			if busy-before[c] < ticks {
				continue
			}
			if was := served[c]; was != "" && was != name {
				shared = true
				first = orFirst(first, "process %d ran tasks of %s, and then of %s (%v in run %d)", c.pid, was, name,
					busy-before[c], n)
			}
			served[c] = name
		}
		if shared {
			v.Succeeded++
		}
		last = name
	}
	row.judge(v, first)
	return nil
}

// orFirst returns the first of what was found out.
func orFirst(first, format string, args ...any) string {
	if first != "" {
		return first
	}
	return fmt.Sprintf(format, args...)
}

// A child is a process below a node.
type child struct {
	pid   int
	begun int64
}

// busyChildren returns the processor time of all processes below the nodes.
func (f *field) busyChildren() map[child]time.Duration {
	out := map[child]time.Duration{}
	for _, n := range f.nodes {
		for _, pid := range children(n.PID()) {
			out[child{pid, begunOf(pid)}] = busyOf(pid)
		}
	}
	return out
}

// restingChildren returns the processor time of all processes below the nodes, once none has used any for restFor. A copy
// of a task whose other run has ended goes on for a while.
func (f *field) restingChildren(ctx context.Context) (map[child]time.Duration, error) {
	before := f.busyChildren()
	for {
		if err := pause.For(ctx, restFor); err != nil {
			return nil, err
		}
		now := f.busyChildren()
		rests := true
		for c, busy := range now {
			rests = rests && busy == before[c]
		}
		if rests {
			return now, nil
		}
		before = now
	}
}

// keyNames are the names of the jobs whose keys are compared.
var keyNames = []string{"alpha", "render", "fit"}

// playKeys submits sealed jobs of a few names while an insider takes leases. The attack succeeds where a key that
// the insider has of one job is that of another.
func playKeys(ctx context.Context, f *field, row *Row) error {
	s, err := f.prepare(insider)
	if err != nil {
		return err
	}
	const slots = 8
	s.offer = usualMachine
	s.offer.Slots = slots
	k := &keeper{stranger: s, keys: map[task.JobID]string{}}
	s.onMessage = func(from task.PeerID, of overlay.ID, m *message.Message) {
		if m.Place != nil && of == f.closed {
			k.placed(ctx, from, m.Place)
		}
	}
	f.mu.Lock()
	f.strangers = append(f.strangers, s)
	f.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	go k.report(ctx, slots)
	v := &Varied{Seed: f.Seed, Of: "sealed jobs of three names, with other arguments, modules and memory, of which an " +
		"insider was given leases"}
	first, seen := "", map[string]task.JobID{}
	for n := range f.Times {
		id, err := f.sealedJob(ctx, n)
		if err != nil {
			return err
		}
		p := &prey{f: f, at: f.helper(), id: id, tasks: 0}
		if err := until(ctx, preyLimit, func() error {
			if view, err := p.view(ctx); err != nil || !view.Final || view.State != "done" {
				return fmt.Errorf("job %d is %s: %w", n, view.State, errors.Join(err, errNotDone))
			}
			return nil
		}); err != nil {
			v.Lost++
			first = orFirst(first, "%v", err)
		} else {
			v.Right++
		}
		key := k.keyOf(id)
		if key == "" {
			continue // the insider had no lease of it
		}
		v.Runs++
		if other, ok := seen[key]; ok {
			v.Succeeded++
			first = orFirst(first, "job %d has the key of %s", n, other)
		}
		seen[key] = id
	}
	row.judge(v, first)
	if v.Runs < f.Times/4 {
		row.broke("the insider was given leases of %d of %d jobs alone", v.Runs, f.Times)
	}
	return nil
}

var errNotDone = errors.New("an honest job does not end done")

// sealedJob submits a job to the closed overlay, by the helper.
func (f *field) sealedJob(ctx context.Context, n int) (task.JobID, error) {
	module := f.guest
	if f.rng.IntN(3) == 0 {
		module = filepath.Join(f.dir, "other.wasm")
		if err := os.WriteFile(module, Guest(1_000_000), 0o600); err != nil {
			return "", err
		}
	}
	text := fmt.Sprintf("name: %s\nmodule: %s\nargs: [\"{{.task}}\", \"%d\"]\nmemory: %dMiB\noutputs: [stdout]\nsweep:\n"+
		"  task: {from: 0, to: %d}\n", keyNames[f.rng.IntN(len(keyNames))], module, n, 64<<f.rng.IntN(2), 4+f.rng.IntN(4))
	file := filepath.Join(f.dir, "sealed.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	said, err := f.helper().Verb(ctx, f.dir, "run", file, "--detach", "--overlay", closedName)
	return task.JobID(said), err
}

// A keeper is an insider that refuses each lease and keeps its job's key.
type keeper struct {
	*stranger

	mu   sync.Mutex
	keys map[task.JobID]string
}

// report says that the keeper has slots, as a worker does.
func (k *keeper) report(ctx context.Context, slots int) {
	w := &worker{stranger: k.stranger, of: closedName, slots: slots}
	w.work(ctx)
}

func (k *keeper) placed(ctx context.Context, from task.PeerID, p *message.Place) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := &message.Report{Epoch: p.Epoch, Slots: 1, State: uint8(overlay.Available)}
	for i := range p.Leases {
		l := &p.Leases[i]
		if key := p.Keys[l.Task.Job]; len(key) > 0 {
			k.keys[l.Task.Job] = string(key)
		}
		r.Refused = append(r.Refused, message.Refusal{Task: l.Task, Attempt: l.Attempt, Reason: "not now",
			RetryAfter: time.Minute})
	}
	_ = k.say(ctx, from, message.Message{Report: r}) // a worker that is not heard loses its leases
}

// keyOf returns the key of a job; "" if the keeper has none.
func (k *keeper) keyOf(id task.JobID) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[id]
}
