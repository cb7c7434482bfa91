package task

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"godwit/internal/yamlfile"
)

// A FileStage is a stage as a job file has it, in the order of the file's needs.
type FileStage struct {
	Stage
	Path string // of the module as written; Stage.Module is set by File.SetModules
}

// stageKeys are the keys of a stage in the order of the manual.
var stageKeys = []string{
	"module", "args", "env", "files", "stdin", "outputs", "sweep", "zip", "trials", "each", "by", "of", "after", "memory",
	"work", "allow_failed",
}

// programKeys are those of a job file that belong into the stages, if there are any.
var programKeys = []string{"module", "args", "env", "files", "stdin", "outputs", "sweep", "zip", "trials"}

// A draftStage is a stage of which the needs are names.
type draftStage struct {
	*reader
	name   string
	needs  []draftNeed
	by, of []string
	share  string // allow_failed as written; "" for none
}

type draftNeed struct {
	stage string
	kind  NeedKind
}

// readStages reads the stages of a job.
func (r *reader) readStages(node ast.Node) *Error {
	pairs, e := yamlfile.Pairs(r.source, node, "stages", "write NAME: {module: clean.wasm, each: simulate} lines")
	if e != nil {
		return e
	}
	if len(pairs) == 0 {
		return r.errorAtToken(yamlfile.First(node), "write NAME: {module: clean.wasm} lines", "there are no stages")
	}
	var drafts []*draftStage
	for _, p := range pairs {
		r.places[stagePlace(p.Key, "")] = yamlfile.At(p.Token)
		d := &draftStage{reader: &reader{File: newFile(r.source)}, name: p.Key}
		if e := d.read(p); e != nil {
			return e
		}
		for where, at := range d.places {
			r.places[stagePlace(p.Key, where)] = at
		}
		for axis, src := range d.Sources {
			if r.Sources == nil {
				r.Sources = map[string]Source{}
			}
			r.Sources[sourceKey(p.Key, axis)] = src
		}
		drafts = append(drafts, d)
	}
	return r.arrange(drafts)
}

// read reads one stage.
func (d *draftStage) read(p yamlfile.Pair) *Error {
	pairs, e := yamlfile.Pairs(d.source, p.Value, "stage "+quote(p.Key), "write {module: clean.wasm, each: simulate}")
	if e != nil {
		return e
	}
	for _, q := range pairs {
		if !slices.Contains(stageKeys, q.Key) {
			return yamlfile.UnknownKey(d.source, q.Token, stageKeys, "a stage")
		}
		d.mark(q.Key, q.Value)
		if e := d.readStageKey(q); e != nil {
			return e
		}
	}
	if _, found := d.places["module"]; !found {
		return d.errorAtToken(p.Token, "add module: PROGRAM.wasm", "stage %s names no module", quote(p.Key))
	}
	switch {
	case len(d.by) > 0 && len(d.of) == 0:
		return d.place(faultf("by", "add of: STAGE, whose tasks are grouped", "groups of no stage"))
	case len(d.of) > 0 && len(d.by) == 0:
		return d.place(faultf("of", "add by: [AXIS], or write after: STAGE for all tasks at once", "groups by no axis"))
	}
	if e := d.setZip(); e != nil {
		return e
	}
	if d.Trials != nil {
		return d.place(faultf("trials", "write trials: 100, or make the stage a job of its own",
			"stage %s has trials until an interval is narrow, and only jobs without stages can", quote(p.Key)))
	}
	if e := d.setTrials(); e != nil {
		return e
	}
	for _, name := range d.of {
		d.needs = append(d.needs, draftNeed{name, NeedBy})
	}
	return nil
}

func (d *draftStage) readStageKey(q yamlfile.Pair) (e *Error) {
	var names []string
	switch q.Key {
	case "each", "after":
		kind := NeedEach
		if q.Key == "after" {
			kind = NeedAfter
		}
		names, e = d.names(q)
		for _, name := range names {
			d.needs = append(d.needs, draftNeed{name, kind})
		}
	case "by":
		d.by, e = d.names(q)
	case "of":
		d.of, e = d.names(q)
	case "allow_failed":
		if d.share, e = d.text(q.Value, q.Key); e == nil {
			n, ok := parseShare(d.share)
			if !ok {
				return d.place(faultf(q.Key, allowedHint, "%s is not a share of the tasks", quote(d.share)))
			}
			d.allow = n
		}
	default:
		e = d.readKey(q)
	}
	return e
}

// names reads one name or a list of them.
func (d *draftStage) names(q yamlfile.Pair) ([]string, *Error) {
	if _, is := q.Value.(*ast.SequenceNode); is {
		return d.texts(q.Value, q.Key, q.Key+": [simulate]")
	}
	s, e := d.text(q.Value, q.Key)
	return []string{s}, e
}

// parseShare reads a share such as 5%, in millionths.
func parseShare(s string) (uint32, bool) {
	text, is := strings.CutSuffix(s, "%")
	d, ok := parseDecimal(text)
	if !is || !ok || d.decimals > 4 || d.mantissa < 0 {
		return 0, false
	}
	n := d.mantissa
	for range 4 - d.decimals {
		n *= 10
	}
	return uint32(min(n, 2*shareWhole)), n <= shareWhole
}

// arrange puts the stages in an order in which each comes after those that it reads, those that read
// none first, and otherwise as the file has them.
func (r *reader) arrange(drafts []*draftStage) *Error {
	known := make([]string, len(drafts))
	for i, d := range drafts {
		known[i] = d.name
	}
	for _, d := range drafts {
		for _, n := range d.needs {
			if !slices.Contains(known, n.stage) {
				return r.place(unknownStage(d, n, known))
			}
		}
	}
	at := map[string]uint64{} // of those that have their place
	placed := func(name string) bool { _, there := at[name]; return there }
	for len(at) < len(drafts) {
		i := slices.IndexFunc(drafts, func(d *draftStage) bool { return !placed(d.name) && len(d.needs) == 0 })
		if i < 0 {
			i = slices.IndexFunc(drafts, func(d *draftStage) bool {
				return !placed(d.name) && !slices.ContainsFunc(d.needs, func(n draftNeed) bool { return !placed(n.stage) })
			})
		}
		if i < 0 {
			return r.place(circle(drafts, placed))
		}
		s, ft := drafts[i].stage(at)
		if ft != nil {
			return r.place(in(drafts[i].name, ft))
		}
		at[s.Name] = uint64(len(r.Stages))
		r.Stages = append(r.Stages, FileStage{s, drafts[i].Module})
	}
	return nil
}

// key is the key of the job file that a need stands under.
func (n draftNeed) key() string {
	if n.kind == NeedBy {
		return "of"
	}
	return n.kind.String()
}

func unknownStage(d *draftStage, n draftNeed, known []string) *fault {
	hint := "the stages are " + strings.Join(known, ", ")
	if near := Nearest(n.stage, known); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return in(d.name, faultf(n.key(), hint, "there is no stage %s", quote(n.stage)))
}

// circle says which stages wait for one another, of those that have no place.
func circle(drafts []*draftStage, placed func(string) bool) *fault {
	byName := map[string]*draftStage{}
	var d *draftStage
	for _, x := range drafts {
		if byName[x.name] = x; d == nil && !placed(x.name) {
			d = x
		}
	}
	var way []string
	for !slices.Contains(way, d.name) {
		way = append(way, d.name)
		i := slices.IndexFunc(d.needs, func(n draftNeed) bool { return !placed(n.stage) })
		d = byName[d.needs[i].stage]
	}
	way = append(way[slices.Index(way, d.name):], d.name)
	i := slices.IndexFunc(d.needs, func(n draftNeed) bool { return n.stage == way[1] })
	return in(d.name, faultf(d.needs[i].key(), "a stage reads only what was made before it: leave out one of these needs",
		"the stages wait for one another in a circle: %s", strings.Join(way, " needs ")))
}

// finishStages completes a job file that has stages.
func (r *reader) finishStages() *Error {
	for _, key := range programKeys {
		if at, found := r.places[key]; found {
			return &Error{File: r.source, Line: at.Line, Column: at.Column,
				Msg:  fmt.Sprintf("%s beside stages: a job with stages has no program of its own", key),
				Hint: "write it into a stage"}
		}
	}
	r.Outputs = nil
	if _, found := r.places["name"]; !found {
		return r.errorAtToken(nil, "add a line such as `name: fit`", "a job with stages has no name")
	}
	return r.setParts()
}

// Paths returns the paths of the modules as written, by stage; of a job without stages under "".
func (f *File) Paths() map[string]string {
	if len(f.Stages) == 0 {
		return map[string]string{"": f.Module}
	}
	out := map[string]string{}
	for i := range f.Stages {
		out[f.Stages[i].Name] = f.Stages[i].Path
	}
	return out
}

// SetModules says where the modules of the stages are stored, by stage. Errors are of type *Error.
func (f *File) SetModules(modules map[string]CID) error {
	for i := range f.Stages {
		s := &f.Stages[i]
		m, found := modules[s.Name]
		if !found {
			return f.ErrorAt(stagePlace(s.Name, "module"), fmt.Sprintf("module %s has not been stored", quote(s.Path)), "")
		}
		s.Module = m
	}
	return nil
}

// Tasks returns the number of tasks of the job.
func (f *File) Tasks() uint64 { return f.draft().Tasks() }

// stages returns the stages without what only the file has; they share memory with it.
func (f *File) stages() []Stage {
	var out []Stage
	for i := range f.Stages {
		out = append(out, f.Stages[i].Stage)
	}
	return out
}

// clone returns a copy that shares no memory with s.
func (s *Stage) clone() Stage {
	c := *s
	c.Args, c.Env = slices.Clone(s.Args), slices.Clone(s.Env)
	c.Files, c.Outputs = slices.Clone(s.Files), slices.Clone(s.Outputs)
	c.Sweep = s.Sweep.clone()
	c.Groups = slices.Clone(s.Groups)
	for i := range c.Groups {
		c.Groups[i] = c.Groups[i].clone()
	}
	c.Needs = slices.Clone(s.Needs)
	for i := range c.Needs {
		c.Needs[i].By, c.Needs[i].Reads = slices.Clone(c.Needs[i].By), slices.Clone(c.Needs[i].Reads)
	}
	return c
}
