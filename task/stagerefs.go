package task

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// In a stage {{.NAME}}, with the name of a stage that it reads, stands for the directory in which that
// one's results lie. These are replaced when the job file is read: a record knows names of files.

// stage makes a stage of a draft, the stages that it reads having their places.
func (d *draftStage) stage(at map[string]uint64) (Stage, *fault) {
	s := Stage{Name: d.name, Args: d.Args, Env: d.Env, Outputs: d.Outputs, Sweep: d.Sweep, AllowFailed: d.allow,
		Work: d.Work}
	if _, said := d.places["memory"]; said {
		if s.Memory = d.Memory; s.Memory == 0 {
			return s, checkMemory(0)
		}
	}
	for _, n := range d.needs {
		need := Need{Stage: at[n.stage], Kind: n.kind}
		if n.kind == NeedBy {
			need.By = d.by
		}
		s.Needs = append(s.Needs, need)
	}
	for i := range s.Args {
		s.Args[i] = d.named(s.Args[i])
	}
	for i := range s.Env {
		s.Env[i].Value = d.named(s.Env[i].Value)
	}
	for i, t := range d.Files {
		stage, rest := d.reference(t)
		if stage < 0 {
			s.Files = append(s.Files, t)
		} else if ft := s.read(stage, d.needs[stage].stage, rest, fmt.Sprintf("files[%d]", i)); ft != nil {
			return s, ft
		}
	}
	if stage, rest := d.reference(d.Stdin); stage < 0 {
		s.Stdin = d.Stdin
	} else if ft := s.read(stage, d.needs[stage].stage, rest, "stdin"); ft != nil {
		return s, ft
	} else {
		s.StdinFrom = path.Join(d.needs[stage].stage, rest)
	}
	for k, n := range s.Needs {
		if n.Kind != NeedAfter && len(n.Reads) == 0 {
			return s, faultf("files", fmt.Sprintf("write files: [%q], or after: %[2]s where it only waits",
				"{{."+d.needs[k].stage+"}}/*", d.needs[k].stage), "it reads no file of stage %s", d.needs[k].stage)
		}
	}
	return s, nil
}

// reference tells a template that begins with a stage that this one reads: which of the needs it is, -1 for
// none, and what comes after the name.
func (d *draftStage) reference(template string) (need int, rest string) {
	inner, rest, found := strings.Cut(template, "}}/")
	name, is := strings.CutPrefix(strings.ReplaceAll(inner, " ", ""), "{{.")
	if !found || !is {
		return -1, ""
	}
	return slices.IndexFunc(d.needs, func(n draftNeed) bool { return n.stage == name }), rest
}

// namedStage is a name in a template.
var namedStage = regexp.MustCompile(`\{\{ *\.([A-Za-z0-9_]+) *\}\}`)

// named replaces the stages in a template by their directories.
func (d *draftStage) named(template string) string {
	return namedStage.ReplaceAllStringFunc(template, func(ref string) string {
		name := namedStage.FindStringSubmatch(ref)[1]
		if slices.ContainsFunc(d.needs, func(n draftNeed) bool { return n.stage == name }) {
			return name
		}
		return ref
	})
}

// read has the stage read files of one of its needs: of one task by their pattern, of several by any
// directory, and then that.
func (s *Stage) read(need int, of, pattern, where string) *fault {
	n := &s.Needs[need]
	if n.Kind != NeedEach {
		first, rest, _ := strings.Cut(pattern, "/")
		if first != "*" || rest == "" {
			return faultf(where, fmt.Sprintf("write {{.%s}}/*/%s", of, path.Base(pattern)),
				"the results of the tasks of stage %s lie in a directory each", of)
		}
		pattern = rest
	}
	if !slices.Contains(n.Reads, pattern) {
		n.Reads = append(n.Reads, pattern)
	}
	return nil
}

// checkReads refuses files that no task of the stage which is read can make, as far as that is known.
func checkReads(j *Job, s *Stage) *fault {
	for k := range s.Needs {
		n := &s.Needs[k]
		outputs := j.Stages[n.Stage].Outputs
		for _, p := range n.Reads {
			if !strings.ContainsAny(p, `*?[\`) && !MatchOutput(outputs, p) {
				return faultf("files", fmt.Sprintf("add it to the outputs of stage %s", j.Stages[n.Stage].Name),
					"stage %s has no output %s", j.Stages[n.Stage].Name, quote(p))
			}
		}
	}
	return nil
}
