package swarm

import (
	"encoding/binary"
	"fmt"

	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/task"
)

// What is alike in all jobs. The module is not run, and has no size.
var module = task.RawCID([]byte("module"))

const (
	retries     = 10      // further runs of a task that fails by its own fault, which none does
	leastMemory = 1 << 20 // bytes of a job of which nothing is said
)

// arrive arranges the next arrival.
func (w *world) arrive() {
	a, ok := w.arrivals.Next()
	if !ok {
		return
	}
	w.comes = a
	w.queue.add(max(w.now, w.machines(a.At)), arriving, w.arrived)
}

// arrived hands in what comes now, as jobs of their classes' sizes.
func (w *world) arrived() {
	batch := []sim.Arriving{w.comes}
	for {
		a, ok := w.arrivals.Next()
		if ok && a.At == batch[0].At && a.Class == batch[0].Class && len(batch) < w.jobSize(a.Class) {
			batch = append(batch, a)
			continue
		}
		w.submit(batch)
		if !ok {
			return
		}
		w.comes = a
		w.queue.add(max(w.now, w.machines(a.At)), arriving, w.arrived)
		return
	}
}

// jobSize is how many tasks a job of a class has. All of the log that come at
// once are one.
func (w *world) jobSize(class int) int {
	if class < 0 {
		return maxLogJob
	}
	return max(1, w.s.Workload.Classes[class].Tasks)
}

// maxLogJob bounds a job made of the log's.
const maxLogJob = 1 << 20

// refill has a saturated class's jobs wait: as many tasks as all hosts have slots
// for, so that none waits for a message.
func (w *world) refill() {
	at := w.traced(w.now)
	if w.now >= w.span {
		return
	}
	for w.waiting < len(w.s.Trace.Hosts)*w.slots {
		a, ok := w.arrivals.Refill(at)
		if !ok {
			break
		}
		batch := []sim.Arriving{a}
		for len(batch) < w.jobSize(a.Class) {
			if a, ok = w.arrivals.Refill(at); !ok {
				break
			}
			batch = append(batch, a)
		}
		w.submit(batch)
	}
	if next, ok := w.arrivals.Opens(at); ok && next > w.openAt {
		w.openAt = next
		w.queue.add(max(w.now, w.machines(next)), arriving, w.refill)
	}
}

// submit makes a job of tasks that come, and hands it to a node.
func (w *world) submit(batch []sim.Arriving) {
	memory := max(batch[0].Memory, 0)
	impossible := w.s.Hosts.Memory > 0 && memory > w.s.Hosts.Memory
	j := &jobBook{}
	for _, a := range batch {
		t := &taskBook{
			number: uint64(len(w.tasks)), state: a.State, work: max(1, w.machines(a.Work)),
			arrived: w.now, begun: -1, ended: -1, waiting: !impossible, impossible: impossible,
		}
		w.tasks, j.tasks = append(w.tasks, t), append(j.tasks, t)
		w.say(t, "arrived", nil, nil, "")
		if impossible {
			w.say(t, "impossible", nil, nil, fmt.Sprintf("no host lends %s", task.FormatSize(memory)))
			continue
		}
		w.waiting++
		w.inside(1)
	}
	if impossible {
		return
	}
	guess, class, weight, slots := batch[0].Work, "", 0, 0
	if c := batch[0].Class; c >= 0 {
		is := &w.s.Workload.Classes[c]
		guess, class, weight, slots = is.Work, is.Name, is.Weight, is.Slots
	}
	if memory == 0 {
		memory = leastMemory
	}
	nonce := make([]byte, task.NonceSize)
	binary.BigEndian.PutUint64(nonce, w.tasks[len(w.tasks)-len(batch)].number)
	j.spec = &task.Job{
		Name: "task", Overlay: w.opt.Overlay, Class: class, Weight: weight, Slots: slots, Module: module, Outputs: []string{"stdout"},
		Work: max(1, w.machines(guess)), Memory: memory, Replicas: 1, Retries: retries,
		Checkpoint: task.Checkpoint{Off: !w.canSave}, Submitted: task.At(w.clock), Nonce: nonce,
		Sweep: task.Sweep{Repeat: uint64(len(batch))},
	}
	w.unhanded = append(w.unhanded, j)
	w.handOver()
}

// handOver gives jobs to nodes, as soon as one is there.
func (w *world) handOver() {
	if w.handing {
		return
	}
	w.handing = true
	defer func() { w.handing = false }()
	for len(w.unhanded) > 0 {
		n := w.submitterNow()
		if n == nil {
			return
		}
		j := w.unhanded[0]
		w.unhanded = w.unhanded[1:]
		w.hand(j, n)
	}
}

// hand has a node sign a job and offer it.
func (w *world) hand(j *jobBook, n *node) task.JobID {
	rec, err := w.cfg.Opened.Sign(j.spec, n.key)
	if err != nil {
		w.note(err)
		return ""
	}
	id, _ := w.cfg.Opened.Names(&rec)
	w.jobs[id], j.giver = j, n
	w.checks = w.checks || j.spec.Verify != nil
	w.sizes[task.CID(id)] = int64(len(rec.Encode()))
	n.blocks[task.CID(id)], n.blocks[j.spec.Module] = true, true
	n.turn(func() { n.step(n.m.Submitter(), message.Offer{Record: rec}) })
	return id
}

// submitterNow is whom the next job is given to; nil for nobody.
func (w *world) submitterNow() *node {
	if k := w.opt.Submitters; k > 0 {
		w.handed++
		return w.nodes[len(w.s.Trace.Hosts)+(w.handed-1)%k]
	}
	var up []*node
	for _, n := range w.nodes {
		if n.up && !n.leaving() {
			up = append(up, n)
		}
	}
	if len(up) == 0 {
		return nil
	}
	return up[w.givers.IntN(len(up))]
}
