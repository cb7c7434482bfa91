package ending

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"godwit/predictor"
	"godwit/scheduler/place"
	"godwit/task"
)

// newWorld draws who is there, how fast they come and go, and what tasks take. st is that of a draw that is over.
func newWorld(c *crowd, of *Job, jobs []*known, s *Swarm, seed uint64, draw int, st *storage) (*world, error) {
	w := &world{c: c, rng: rand.New(rand.NewPCG(seedOf(of.ID, seed), uint64(draw))),
		index: map[task.PeerID]int{}, detect: s.Detect.Seconds(), grace: s.Grace.Seconds(),
		storage: storage{st.events[:0], st.runs[:0], st.room[:0]}}
	var err error
	if w.policy, err = place.ParseWith(predictor.Default, s.Placement); err != nil {
		return nil, err
	}
	if w.traits = w.policy.Traits(); w.traits.Rate != nil {
		// It goes by rates that only its coordinator has measured.
		if w.policy, err = place.Parse(place.Default); err != nil {
			return nil, err
		}
		w.traits = w.policy.Traits()
	}
	for i := range w.pace {
		w.pace[i] = math.Exp(paceSpread * w.rng.NormFloat64())
	}
	common := commonSpread * w.rng.NormFloat64()
	var share float64
	alike := w.rng.Float64()
	w.hosts, share = c.hosts(float64(of.left()), w.rng)
	w.open = make([]uint64, (len(w.hosts)+wordBits-1)/wordBits)
	for i := range w.hosts {
		h := &w.hosts[i]
		w.index[h.peer] = i
		h.speed = speedOf(&h.habit.Member) * math.Exp(common+speedSpread*w.rng.NormFloat64())
		c.begin(h, w.pace[0], w.pace[1], alike, w.rng)
		w.at(h.change, changes, i, 0)
		w.settleRoom(i)
		if h.there {
			w.queue.slots += float64(h.habit.Slots)
		}
	}
	for _, k := range jobs {
		w.jobs = append(w.jobs, w.take(k, share))
	}
	w.queue.jobs = w.jobs
	if of.Slots > 0 {
		w.queue.most = max(1, math.Round(float64(of.Slots)*share))
	}
	w.parts = max(1, len(of.Stages))
	w.queue.parts = w.parts
	w.stage(of, share)
	return w, nil
}

// seedOf makes a job's own seed: jobs are forecast apart.
func seedOf(id task.JobID, seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "godwit ending %s", id)
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], seed)
	h.Write(b[:])
	return h.Sum64()
}

// take brings a job in: what runs goes on, the rest waits.
func (w *world) take(k *known, share float64) *job {
	j := &job{known: k, number: len(w.jobs), work: k.law(w.rng), save: k.job.Save.Seconds()}
	kept := uint64(0)
	for n, a := range k.job.Running {
		i, ok := w.index[a.Peer]
		if !ok || n >= MaxRunning || len(w.hosts[i].running) >= w.hosts[i].habit.Slots {
			if share == 1 {
				did := a.Work.Seconds()
				j.pieces = append(j.pieces, piece{total: j.work.longer(did, w.rng), did: j.saved(did, 1)})
				kept++
			}
			continue
		}
		kept++
		did := a.Work.Seconds()
		total := j.work.longer(did, w.rng)
		j.running++
		w.start(run{job: j, host: i, tasks: 1, total: total, did: did, base: j.saved(did, w.hosts[i].speed)})
		if h := &w.hosts[i]; !h.there {
			w.pause(h)
		}
	}
	if k.job.left() > 0 {
		j.waiting = uint64(max(1, math.Round(float64(k.job.left())*share)))
	}
	j.waiting -= min(j.waiting, kept)
	j.total = float64(j.waiting + kept)
	return j
}

// run runs the draw until the first job has ended, and returns when.
func (w *world) run() float64 {
	w.dirty = true
	w.place()
	for !w.isOver() && len(w.events) > 0 {
		if w.count++; w.count > w.c.events {
			return w.extrapolated()
		}
		e := agenda.Pop(&w.events)
		if e.at >= MaxAhead.Seconds() {
			break
		}
		w.now = e.at
		w.happen(&e)
		if len(w.events) == 0 || w.events[0].at > w.now {
			w.place()
		}
	}
	if w.isOver() {
		return w.now
	}
	return MaxAhead.Seconds()
}

// extrapolated is the end of a job at the rate until now.
func (w *world) extrapolated() float64 {
	total, left := 0.0, 0.0
	for _, j := range w.jobs[:w.parts] {
		total += j.total
		left += j.unplaced()
	}
	for i := range w.hosts {
		for _, k := range w.hosts[i].running {
			if r := &w.runs[k]; r.job.number < w.parts {
				left += r.left(w.now)
			}
		}
	}
	if done := total - left; done > 0 {
		return min(MaxAhead.Seconds(), w.now*total/done)
	}
	return MaxAhead.Seconds()
}

// isOver says whether the first job is: all of its stages, if it has any.
func (w *world) isOver() bool {
	for _, j := range w.jobs[:w.parts] {
		if !j.over() {
			return false
		}
	}
	return true
}

// meanWork is the mean work of a task of the first job, of those that are left.
func (w *world) meanWork() float64 {
	sum, n := 0.0, 0.0
	for _, j := range w.jobs[:w.parts] {
		sum += j.total * j.work.mean()
		n += j.total
	}
	return sum / max(n, 1)
}

func (w *world) happen(e *event) {
	switch e.kind {
	case changes:
		if h := &w.hosts[e.of]; h.there {
			w.leaves(h, e.of)
		} else {
			w.comes(h, e.of)
		}
	case ends:
		if r := &w.runs[e.of]; r.epoch == e.epoch {
			w.end(e.of, r)
		}
	case returns:
		if r := &w.runs[e.of]; r.epoch == e.epoch {
			w.giveBack(e.of, r)
		}
	case asks:
		w.asked, w.dirty = 0, true
	}
}
