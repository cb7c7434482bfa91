package task

import (
	"slices"
	"strings"
)

// in places a fault of a stage; nil stays nil.
func in(stage string, f *fault) *fault {
	if f == nil {
		return nil
	}
	return &fault{stagePlace(stage, f.where), f.msg, f.hint}
}

// stagePlace is where a part of a stage stands.
func stagePlace(stage, where string) string {
	if where == "" {
		return "stages." + stage
	}
	return "stages." + stage + "." + where
}

// checkStages checks what a job of several stages has from its job file: that needs are of stages
// before, so that none waits for itself, and each stage as a job of its own.
func checkStages(j *Job) *fault {
	if len(j.Stages) == 0 {
		return nil
	}
	if n := len(j.Stages); n > MaxStages {
		return faultf("stages", "join some stages", "%d stages, the most is %d", n, MaxStages)
	}
	if len(j.Args)+len(j.Env)+len(j.Files)+len(j.Outputs)+len(j.Sweep.Axes) > 0 || j.Stdin != "" || j.Sweep.Repeat != 0 {
		return faultf("stages", "write args, env, files, stdin, outputs and sweep into the stages",
			"a job with stages has no program of its own")
	}
	if j.Verify != nil && len(j.Verify.Auditors) > 0 {
		return faultf("auditors", "leave auditors out",
			"results of a job with stages are run again on the node that hands it in, and nowhere else yet")
	}
	if unread(j) {
		return nil // how many tasks there are is not known yet
	}
	var total, grouped uint64
	for s := range j.Stages {
		if f := in(j.Stages[s].Name, checkStage(j, s, &grouped)); f != nil {
			return f
		}
		if total += j.countOf(s); total > MaxStaged {
			return faultf("stages", "sweep fewer values", "the stages have more than %d tasks together", MaxStaged)
		}
	}
	return nil
}

// checkStage checks a stage, those before it being right, and adds its groupings to all. Its place is within the stage.
func checkStage(j *Job, stage int, grouped *uint64) *fault {
	s := &j.Stages[stage]
	switch {
	case !isIdentifier(s.Name):
		return faultf("", "use letters, digits and _, at most 64, and no digit first",
			"name of a stage %s is not an identifier", quote(s.Name))
	case s.Name == Trial || slices.ContainsFunc(j.Stages[:stage], func(o Stage) bool { return o.Name == s.Name }):
		return faultf("", "give each stage its own name", "no stage may be called %q here", s.Name)
	case stage > 0 && len(s.Needs) == 0 && len(j.Stages[stage-1].Needs) > 0:
		return faultf("", "", "it reads no other stage, and comes after one that does")
	}
	if f := s.Sweep.check(); f != nil {
		return f
	}
	if f := s.checkGroupings(grouped); f != nil {
		return f
	}
	if f := checkNeeds(j, stage); f != nil {
		return f
	}
	of := j.OfStage(stage)
	for _, check := range []func() *fault{s.checkBounds, of.Sweep.check, of.checkArgs, of.checkFiles, of.checkOutputs} {
		if f := check(); f != nil {
			return f
		}
	}
	if f := checkReads(j, s); f != nil {
		return f
	}
	return checkStdinFrom(j, s)
}

// checkNeeds checks what a stage reads.
func checkNeeds(j *Job, stage int) *fault {
	s := &j.Stages[stage]
	if len(s.Needs) > maxNeeds {
		return faultf("", "", "it reads %d stages, the most is %d", len(s.Needs), maxNeeds)
	}
	groups := false
	for k := range s.Needs {
		n := &s.Needs[k]
		if n.Stage >= uint64(stage) {
			return faultf(n.Kind.String(), "", "it needs a stage that is not before it")
		}
		if slices.ContainsFunc(s.Needs[:k], func(o Need) bool { return o.Stage == n.Stage }) {
			return faultf(n.Kind.String(), "name it once", "it reads stage %s twice", j.Stages[n.Stage].Name)
		}
		groups = groups || n.Kind != NeedEach
		if f := checkNeed(j, stage, n); f != nil {
			return f
		}
	}
	switch {
	case s.AllowFailed > shareWhole:
		return faultf("allow_failed", allowedHint, "a share above 100%%")
	case s.AllowFailed > 0 && !groups:
		return faultf("allow_failed", "leave it out: a task that follows another needs that one",
			"only of groups, or of all tasks of a stage, may some have failed")
	case s.AllowFailed > 0 && j.Replicas > 1:
		return faultf("allow_failed", "leave replicas out, or allow_failed",
			"replicas of a task may read the results of other tasks then, and cannot agree")
	}
	return checkCounts(j, stage)
}

const allowedHint = "write a share such as 5%"

// checkNeed checks one of a stage's needs, which is of a stage before.
func checkNeed(j *Job, stage int, n *Need) *fault {
	of := j.SweepOf(int(n.Stage))
	switch n.Kind {
	case NeedEach, NeedAfter:
		if len(n.By) > 0 {
			return faultf("by", "", "groups of a need that is not by any")
		}
	case NeedBy:
		if f := of.checkBy(n.By, j.Stages[n.Stage].Name); f != nil {
			return f
		}
	default:
		return faultf("", "", "a need of %v", n.Kind)
	}
	if len(n.Reads) > maxReadPatterns {
		return faultf("files", "write patterns, such as *.csv", "it reads %d patterns of files of stage %s, the most is %d",
			len(n.Reads), j.Stages[n.Stage].Name, maxReadPatterns)
	}
	for _, p := range n.Reads {
		if e := checkPattern(p); e != nil {
			return textFault("files", e)
		}
	}
	if most := j.Widest(n); len(n.Reads) > 0 && most > MaxReads {
		return faultf(n.Kind.String(), "put a stage between that reads them in groups: by and of",
			"a task would read %d tasks of stage %s, the most is %d", most, j.Stages[n.Stage].Name, MaxReads)
	}
	return nil
}

// Widest is how many tasks each task has at most that has the need.
func (j *Job) Widest(n *Need) uint64 {
	of := j.SweepOf(int(n.Stage))
	switch n.Kind {
	case NeedEach:
		return 1
	case NeedBy:
		return of.widestGroup(n.By)
	}
	return of.Count()
}

// checkCounts checks that all that gives a stage its points gives it as many.
func checkCounts(j *Job, stage int) *fault {
	s := &j.Stages[stage]
	points := j.SweepOf(stage)
	own := len(s.Sweep.Axes) > 0 || s.Sweep.Repeat != 0
	var first *Need
	for k := range s.Needs {
		n := &s.Needs[k]
		of := j.SweepOf(int(n.Stage))
		switch {
		case n.Kind == NeedAfter:
			continue
		case first != nil && first.Kind != n.Kind:
			return faultf("by", "take one of them; `after` goes with both", "it follows tasks one by one, and groups of them")
		case n.Kind == NeedBy && own:
			return faultf("sweep", "leave sweep out", "a stage of groups has a task for each group, and no points of its own")
		case n.Kind == NeedBy:
			if of = of.over(n.By); !sameAxes(of, points) {
				return faultf("by", "group both by axes of the same values", "the groups of stage %s are not those of stage %s",
					j.Stages[n.Stage].Name, j.Stages[first.Stage].Name)
			}
		case of.Count() != points.Count():
			return faultf("each", "give both as many, or read all tasks with after: "+j.Stages[n.Stage].Name,
				"stage %s has %d tasks, and this one %d: they cannot follow one by one", j.Stages[n.Stage].Name, of.Count(),
				points.Count())
		}
		first = n
	}
	return nil
}

func sameAxes(a, b Sweep) bool {
	return slices.EqualFunc(a.Axes, b.Axes, func(x, y Axis) bool {
		return x.Name == y.Name && slices.Equal(x.Values, y.Values) && x.From == y.From && x.Step == y.Step &&
			x.Count == y.Count && x.Decimals == y.Decimals && x.Joined == y.Joined && sameTable(x.Table, y.Table) &&
			x.group.same(y.group) && slices.Equal(x.columns, y.columns)
	})
}

func sameTable(a, b *Table) bool {
	return a == b || a != nil && b != nil && a.CID == b.CID && a.Rows == b.Rows
}

// checkStdinFrom checks that a standard input of another task is one that the stage reads.
func checkStdinFrom(j *Job, s *Stage) *fault {
	if s.StdinFrom == "" {
		return nil
	}
	for k := range s.Needs {
		n := &s.Needs[k]
		name, is := strings.CutPrefix(s.StdinFrom, j.Stages[n.Stage].Name+"/")
		if is && n.Kind == NeedEach && s.Stdin == "" && slices.Contains(n.Reads, name) {
			return nil
		}
	}
	return faultf("stdin", "name an output of a stage that this one follows with each, such as {{.STAGE}}/stdout",
		"%s is no file that it reads of one task", quote(s.StdinFrom))
}

// checkStaged checks what submitting adds to the stages.
func checkStaged(j *Job) *fault {
	for i := range j.Stages {
		s := &j.Stages[i]
		if !s.Module.Valid() {
			return in(s.Name, faultf("module", "", "CID %s is not valid", quote(string(s.Module))))
		}
		for _, in := range j.Inputs {
			if first, _, _ := strings.Cut(in.Name, "/"); first == s.Name {
				return faultf(stagePlace(s.Name, ""), "rename the stage, or the file",
					"file %s would lie where results of stage %s do", quote(in.Name), s.Name)
			}
		}
	}
	if len(j.Stages) > 0 && j.Module != j.Stages[0].Module {
		return faultf("module", "", "not that of the first stage")
	}
	return nil
}
