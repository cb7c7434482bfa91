package scenario

import (
	"godwit/task"
	"godwit/trace"
)

// load opens what the file names, and sets what depends on it.
func (r *reader) load(open func(string) (*trace.Trace, error), openLog func(string) (*trace.Workload, error),
	openText func(string) ([]byte, error)) *task.Error {
	w := &r.Base.Workload
	switch {
	case r.Source.File == "" && r.Source.Kind == "" && !r.machines.given && len(r.Owners.Sites) == 0:
		return r.errorAt(nil, "add a line such as `trace: sessions.csv` or `synth: {kind: deug}`", "the file names no hosts")
	case r.machines.given && (r.Source.File != "" || r.Source.Kind != ""):
		return r.at("machines", "leave out one of them", "machines are given beside a trace or a synthetic set")
	case r.Source.File != "" && r.Source.Kind != "":
		return r.at("synth", "leave out one of them", "both a trace and a synthetic set are given")
	case len(w.Classes) == 0 && r.log == "":
		return r.at("workload", "add `workload: {classes: [{work: 10m, arrival: every, interval: 1m}]}`, or a log",
			"the file names no workload")
	case r.end.given() && r.days != 0:
		return r.at("days", "leave out one of them", "both an end and days are given")
	}
	if r.log != "" {
		log, err := openLog(r.log)
		if err != nil {
			return r.wrap("workload.log", err)
		}
		w.Log = log
	}
	if e := r.loadSites(); e != nil {
		return e
	}
	if e := r.loadMachines(openText); e != nil {
		return e
	}
	if e := r.loadRates(openText); e != nil {
		return e
	}
	if len(r.Owners.Sites) > 0 {
		r.bound()
		return nil
	}
	if e := r.checkPublished(); e != nil {
		return e
	}
	if r.machines.given {
		if e := r.useMachines(open); e != nil {
			return e
		}
	} else if r.Source.Kind != "" {
		if err := r.Synthesize(); err != nil {
			return r.wrap("synth", err)
		}
	} else {
		t, err := open(r.Source.File)
		if err != nil {
			return r.wrap("trace", err)
		}
		r.Use(t)
	}
	r.bound()
	return nil
}

// bound sets the beginning and the end of the runs.
func (r *reader) bound() {
	b, beginning := &r.Base, r.Base.Trace.Start
	if r.start.given() {
		b.Start = r.start.from(beginning)
	}
	if r.end.given() {
		b.End = r.end.from(beginning)
	}
	if r.days != 0 {
		r.SetDays(r.days)
	}
}
