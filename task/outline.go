package task

// An Outline is a stage as far as it decides when its job ends: how many tasks it has, what they take, and for how much
// they wait.
type Outline struct {
	Name   string
	Tasks  uint64
	Work   float64 // of a task, in seconds on the reference core; 0 unknown
	Memory int64   // bytes that a task may have
	Needs  []OutlineNeed
}

// An OutlineNeed says how far another stage has to be.
type OutlineNeed struct {
	Stage int // before this one
	// From is the share of that stage's tasks that have ended, if they end in their order, when the first task of this
	// stage may begin; above 0, at most 1.
	From float64
}

// OutlineOf returns the outlines of the stages of a job; nil of one without any.
func OutlineOf(j *Job) []Outline {
	var out []Outline
	for k := range j.Stages {
		of := j.OfStage(k)
		o := Outline{Name: j.Stages[k].Name, Tasks: j.countOf(k), Work: of.Work.Seconds(), Memory: of.Memory}
		for i := range j.Stages[k].Needs {
			n := &j.Stages[k].Needs[i]
			group := uint64(0)
			if n.Kind == NeedBy {
				points := j.SweepOf(int(n.Stage))
				group = points.soonest(n.By)
			}
			first := j.members(k, n, group)
			from := float64(first.At(first.Count()-1)-first.first+1) / float64(j.countOf(int(n.Stage)))
			o.Needs = append(o.Needs, OutlineNeed{int(n.Stage), from})
		}
		out = append(out, o)
	}
	return out
}

// Outline returns the outlines of the stages of a job file; nil of one without any.
func (f *File) Outline() []Outline { return OutlineOf(f.draft()) }
