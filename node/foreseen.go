package node

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"godwit/ending"
	"godwit/member"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
	"godwit/trace"
)

const (
	// foreseenRows is how many of a job's tasks are asked for twice: from the first on, and
	// from about those on that run.
	foreseenRows = 500
	// foreseenOthers bounds the other jobs that are thought of.
	foreseenOthers = 16
	// usualSave is how often a task saves its state where the system chooses: the order of what
	// migrate.Interval comes to.
	usualSave = 10 * time.Minute
	// believedFrom is how far a member has to be believed for what it tells of its history to
	// count.
	believedFrom = 0.5
)

// A JobEnd is when a job will end, and how fast it goes.
type JobEnd struct {
	Job   task.JobID `json:"job"`
	State string     `json:"state"`
	// Rate is in tasks a second, over the time since the job was handed in; 0 where none has
	// ended.
	Rate float64 `json:"tasks_per_s"`
	Left uint64  `json:"left"` // tasks that have not ended
	ending.Forecast
	At time.Time `json:"at"` // when the forecast was made: where the end is hours away that may be minutes ago
}

// A Plan is what would become of a job.
type Plan struct {
	Overlay string  `json:"overlay"`
	Tasks   uint64  `json:"tasks"`
	Runs    uint64  `json:"runs"`    // of all tasks, as many members have to run each
	Verify  string  `json:"verify"`  // how results are checked; the default if the job does not say
	Promise string  `json:"promise"` // how likely it is that wrong results remain unnoticed, for people
	Work    float64 `json:"work_s"`
	Memory  int64   `json:"memory_bytes"`
	// Taken are tasks whose results are taken from other jobs, as far as that was asked for: the forecast is of the rest.
	Taken []message.Taken `json:"taken,omitempty"`
	Ready []task.PeerID   `json:"ready"` // who could run it now
	Slots int             `json:"slots"` // of those, busy ones too
	// Unfit is why others could not, grouped.
	Unfit    []WhyReason     `json:"unfit"`
	Forecast ending.Forecast `json:"forecast"`
}

// A seer answers when jobs end, from what this node knows of the members.
type seer struct {
	*driver
	past     *past
	overlays *overlays
	queries  *queries

	foretold foretold
}

func newSeer(d *driver, ps *past, o *overlays, q *queries) *seer {
	return &seer{driver: d, past: ps, overlays: o, queries: q, foretold: newForetold()}
}

// knownIn are the members of an overlay with what is known of them. It is on the loop.
func (s *seer) knownIn(m *membership) (out []ending.Member) {
	now := s.now()
	s.past.refreshPool(now)
	for _, a := range m.View().Members() {
		out = append(out, s.member(&a, now))
	}
	for _, a := range m.Away() {
		x := s.member(&a, now)
		x.State = trace.Unavailable
		out = append(out, x)
	}
	return out
}

// member is one by its advert. What a member tells that is not believed does not count.
func (s *seer) member(a *overlay.Advert, now time.Time) ending.Member {
	x := ending.Member{Peer: a.Peer, State: a.State, Slots: a.Slots, Memory: a.Memory, Speed: a.Speed, Until: a.Until}
	if x.Slots == 0 && (x.State == overlay.UserPresent || x.State == overlay.CPUBusy) {
		x.Slots = 1 // it lends some when its owner has gone, and does not say how many
	}
	if s.peer.Standing().Weight(a.Peer) < believedFrom {
		return x
	}
	var r predictor.Record
	switch {
	case a.Peer == s.self:
		s.past.recorder.Tick(now)
		r = s.past.recorder.Record()
		x.State = s.past.state()
		x.Record = &r
	case r.UnmarshalBinary(a.Record) == nil:
		x.Record = &r
	}
	if r.Since != 0 && r.Up == (x.State == overlay.Available) {
		x.Since = time.Unix(int64(r.Since), 0).UTC()
	}
	const slack = 4 // as member.witness has it
	if h, err := trace.DecodeSpells(a.Spells, slack*advertSpells); err == nil {
		x.Spells = h
	}
	return x
}

// swarm is where jobs of an overlay run. The pool is a copy that nobody changes. each is the limit of the rules on the slots
// of one submitter, 0 if there is none.
func (s *seer) swarm(ctx context.Context, ref string) (sw ending.Swarm, name string, each int, err error) {
	e := s.look(ctx, func() {
		var m *membership
		if m, err = s.overlays.find(ref); err != nil {
			return
		}
		name, each = m.Manifest().Name, m.Manifest().SlotsEach
		sw = ending.Swarm{Members: s.knownIn(m), Placement: m.Manifest().Placement, Detect: s.overlays.sched.LeaseTTL,
			Grace: s.overlays.sched.LeaseTTL}
		pool := *s.past.pool
		sw.Pool = &pool
	})
	return sw, name, each, errors.Join(e, err)
}

// lesserLimit returns the lesser of two limits, of which 0 is none.
func lesserLimit(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// checks returns how the results of a job are checked in an overlay, and the share that it has checked at least.
func (s *seer) checks(ctx context.Context, f *task.File, ref string) (v *task.Verify, least float64, err error) {
	e := s.look(ctx, func() {
		var m *membership
		if m, err = s.overlays.find(ref); err == nil {
			terms, _ := member.Assumed(m.Manifest().Admission)
			v, least = verifyOf(f, m.Manifest()), terms.Least
		}
	})
	return v, least, errors.Join(e, err)
}

// Plan says what would become of a job of so many tasks, of an overlay by its name or ID, if it
// were handed in now. Nothing is. Of the file Work, Memory, Replicas and Checkpoint count. stages are those of a
// job that has any, in their order. taken is what it takes of others, of as many stages; nil for nothing.
func (s *seer) Plan(ctx context.Context, f *task.File, tasks uint64, stages []task.Outline, taken *Takeover,
	of string) (Plan, error) {
	sw, name, each, err := s.swarm(ctx, of)
	if err != nil {
		return Plan{}, err
	}
	verify, least, err := s.checks(ctx, f, of)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Overlay: name, Tasks: tasks, Work: f.Work.Seconds(), Memory: f.Memory, Ready: []task.PeerID{},
		Unfit: []WhyReason{}}
	p.Verify, p.Promise = verify.String(), submitter.Promise(verify, least, tasks)
	p.Runs = p.Tasks * uint64(max(1, f.Replicas))
	p.look(sw.Members)
	if jobs, err := s.queries.Jobs(ctx); err == nil {
		sw.Others = others(jobs, name, "")
	}
	if taken == nil {
		taken = &Takeover{Stages: make([]uint64, max(1, len(stages)))}
	}
	p.Taken = taken.From
	replicas := uint64(max(1, f.Replicas))
	job := ending.Job{Waiting: p.Runs - min(p.Runs, taken.tasks()*replicas), Memory: f.Memory, Declared: f.Work,
		Save: saveOf(f.Checkpoint), Slots: lesserLimit(f.Slots, each)}
	if len(stages) > 0 {
		job.Waiting, job.Memory, job.Declared = 0, 0, 0
		job.Stages = planned(stages, replicas)
		for k := range job.Stages {
			stage := &job.Stages[k]
			stage.Over = min(stage.Waiting, taken.Stages[k]*replicas)
			stage.Waiting -= stage.Over
		}
	}
	p.Forecast, err = ending.Ahead(s.now(), &job, &sw, ending.Options{})
	return p, err
}

// look says who could run the job.
func (p *Plan) look(members []ending.Member) {
	unfit := map[string][]task.PeerID{}
	for i := range members {
		m := &members[i]
		reason := scheduler.Unfit(m.State, m.Slots, m.Memory, p.Memory)
		if reason == "" && m.State != overlay.Available {
			reason = "the member is " + m.State.String()
		}
		if reason != "" {
			unfit[reason] = append(unfit[reason], m.Peer)
			continue
		}
		p.Ready = append(p.Ready, m.Peer)
		p.Slots += m.Slots
	}
	slices.Sort(p.Ready)
	for reason, peers := range unfit {
		slices.Sort(peers)
		p.Unfit = append(p.Unfit, WhyReason{Reason: reason, Tasks: p.Tasks, Peers: peers})
	}
	slices.SortFunc(p.Unfit, func(a, b WhyReason) int {
		return cmp.Or(cmp.Compare(len(b.Peers), len(a.Peers)), cmp.Compare(a.Reason, b.Reason))
	})
}

func saveOf(c task.Checkpoint) time.Duration {
	if c.Off {
		return 0
	}
	return cmp.Or(c.Every, usualSave)
}

// others are the open jobs of an overlay but for one.
func others(jobs []message.JobStatus, overlay string, but task.JobID) (out []ending.Job) {
	for i := range jobs {
		j := &jobs[i]
		left := j.Tasks.Waiting + j.Tasks.Running
		if j.ID == but || j.Overlay != overlay || j.Final || left == 0 || len(out) == foreseenOthers {
			continue
		}
		out = append(out, ending.Job{ID: j.ID, Waiting: left, Declared: meanWork(j), Save: usualSave})
	}
	return out
}

// meanWork is what a task of a job took so far, in the mean; 0 where none has ended.
func meanWork(j *message.JobStatus) time.Duration {
	if j.Tasks.Done == 0 {
		return 0
	}
	return time.Duration(j.UsefulCPU / float64(j.Tasks.Done) * float64(time.Second))
}

func (s *seer) foresee(ctx context.Context, id task.JobID) (JobEnd, error) {
	st, err := s.queries.Job(ctx, id, 0, foreseenRows)
	if err != nil {
		return JobEnd{}, err
	}
	now := s.now()
	e := JobEnd{Job: id, At: now}
	e.stand(&st, now)
	if e.Left == 0 || st.Final {
		return e, nil
	}
	if from := st.Tasks.Done + st.Tasks.Failed; st.Tasks.Total > foreseenRows && from > foreseenRows/2 {
		if more, err := s.queries.Job(ctx, id, from-min(from, foreseenRows/2), foreseenRows); err == nil {
			st.TasksList = append(st.TasksList, more.TasksList...)
		}
	}
	sw, name, each, err := s.swarm(ctx, st.Overlay)
	if err != nil {
		return e, err
	}
	if jobs, err := s.queries.Jobs(ctx); err == nil {
		sw.Others = others(jobs, name, id)
	}
	job := s.jobOf(ctx, &st, sw.Members, now)
	job.Slots = lesserLimit(job.Slots, each)
	e.Forecast, err = ending.Ahead(now, &job, &sw, ending.Options{})
	return e, err
}

// jobOf is what is left of a job, by what its leader tells.
func (s *seer) jobOf(ctx context.Context, st *message.JobStatus, members []ending.Member, now time.Time) ending.Job {
	job := ending.Job{ID: st.ID, Declared: meanWork(st), Save: usualSave, Slots: st.Slots}
	replicas := uint64(1)
	if _, spec, err := s.queries.Submitted(ctx, st.ID); err == nil && spec != nil {
		if len(spec.Stages) > 0 && len(st.Stages) == len(spec.Stages) {
			return s.stagesOf(ctx, st, spec, members, now)
		}
		job.Memory, job.Save = spec.Memory, saveOf(spec.Checkpoint)
		job.Declared = cmp.Or(job.Declared, spec.Work)
		replicas = uint64(max(1, spec.Replicas))
	}
	seen := sightings{now: now, speed: speeds(members), told: map[uint64]bool{}}
	seen.add(&job, st.TasksList, func(uint64) bool { return true })
	left := (st.Tasks.Waiting + st.Tasks.Running) * replicas
	job.Waiting = left - min(left, uint64(len(job.Running)))
	return job
}

// speeds are those of members by their names.
func speeds(members []ending.Member) map[task.PeerID]float64 {
	out := make(map[task.PeerID]float64, len(members))
	for i := range members {
		out[members[i].Peer] = members[i].Speed
	}
	return out
}

// sightings are what is told of tasks that ended or run.
type sightings struct {
	now   time.Time
	speed map[task.PeerID]float64
	told  map[uint64]bool // of which something was added
}

// add adds the tasks of a list that are of a job or stage to what is known of that, each once.
func (s *sightings) add(job *ending.Job, list []message.TaskStatus, of func(index uint64) bool) {
	for i := range list {
		t := &list[i]
		if s.told[t.Index] || len(t.Attempts) == 0 || !of(t.Index) {
			continue
		}
		s.told[t.Index] = true
		a := &t.Attempts[len(t.Attempts)-1]
		x := cmp.Or(s.speed[a.Worker], 1)
		from := a.Start
		if !a.Began.IsZero() {
			from = a.Began
		}
		saved := time.Duration(max(0, a.SavedCPU) * float64(time.Second))
		switch {
		case t.State == message.JobDone && a.End.After(from):
			job.Ended = append(job.Ended, saved+scaled(a.End.Sub(from), x))
		case t.State == taskRunning && a.End.IsZero() && len(job.Running) < ending.MaxRunning:
			job.Running = append(job.Running, ending.Attempt{Peer: a.Worker, Work: saved + scaled(max(0, s.now.Sub(from)), x)})
		}
	}
}

// taskRunning is the state of a task that a member has.
const taskRunning = "running"

// scaled is the work that a time at a speed does.
func scaled(d time.Duration, speed float64) time.Duration {
	const most = float64(10 * 365 * 24 * time.Hour) // a time that no task takes
	return time.Duration(min(float64(d)*speed, most))
}
