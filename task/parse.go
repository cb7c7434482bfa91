package task

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"godwit/internal/yamlfile"
)

// ParseFile reads a job file. The name is for errors, which are of type *Error
// and carry the line and column to blame. A file without error is valid as far
// as it can be known without reading the files that it names: every template
// expands, every name stays in the sandbox, the sweep is within its limits.
//
// Scalars of args, env and sweep are taken by the text they are written in:
// `0x10` is not 16, `1.50` not 1.5, `yes` not true.
func ParseFile(name string, src []byte) (*File, error) {
	if name == "" {
		name = "job file"
	}
	r := &reader{File: newFile(name)}
	node, e := jobFile.Parse(name, src)
	if e != nil {
		return nil, e
	}
	if e := r.readTop(node); e != nil {
		return nil, e
	}
	if ft := r.draft().checkShape(); ft != nil {
		return nil, r.place(ft)
	}
	return r.File, nil
}

// MaxFile is the largest job file, in bytes.
const MaxFile = 1 << 20

// jobFile is what a job file may hold.
var jobFile = yamlfile.Format{
	Subject:   "the job file",
	Has:       "job files have",
	MaxBytes:  MaxFile,
	MaxTokens: 2*MaxValues + 20_000, // the longest list, its commas, and the rest
	MaxNested: 8,                    // a job file needs 5
	Size:      FormatSize,
	Hint: func(line []byte) string {
		if bytes.Contains(line, []byte("{{")) {
			return `put quotes around templates, as in "{{.name}}"`
		}
		return ""
	},
	LoneCR: true,
	Second: "a job file has one document, this is a second one",
	Long:   "put long lists into an input file",
	Nested: "a job file has at most lists within `sweep`",
	One:    "write one file for each job",
	Empty:  "begin it with a line such as `module: render.wasm`",
}

// A reader fills in a File from the nodes of a job file.
type reader struct {
	*File
	zip   [][]string    // groups of axes that go together
	parts time.Duration // of the tasks that are checked; 0: nothing is said of them
	allow uint32        // of a stage; see Stage.AllowFailed
	times uint64        // trials of each point, by `trials`; 0: the file does not have it
}

// errorAtToken returns an error at a token's place.
func (r *reader) errorAtToken(t *token.Token, hint, format string, args ...any) *Error {
	return yamlfile.ErrorAt(r.source, t, hint, format, args...)
}

// keys are the keys of a job file in the order of the manual.
var keys = []string{
	"name", "module", "args", "env", "files", "stdin", "outputs", "sweep", "zip", "trials", "work",
	"memory", "replicas", "retries", "deadline", "timeout", "priority", "checkpoint", "class", "weight", "slots",
	"verify", "confirm", "auditors", "parts", "stages",
}

func (r *reader) readTop(node ast.Node) *Error {
	pairs, e := yamlfile.Pairs(r.source, node, "a job file", "write KEY: VALUE lines, such as `module: render.wasm`")
	if e != nil {
		return e
	}
	for _, p := range pairs {
		if !slices.Contains(keys, p.Key) {
			return yamlfile.UnknownKey(r.source, p.Token, keys, "a job file")
		}
		r.mark(p.Key, p.Value)
		if e := r.readKey(p); e != nil {
			return e
		}
	}
	if len(r.Stages) > 0 {
		return r.finishStages()
	}
	if _, found := r.places["module"]; !found {
		return r.errorAtToken(nil, "add a line such as `module: render.wasm`", "the job file names no module")
	}
	if len(r.Auditors) > 0 && r.Verify == nil {
		return r.place(faultf("auditors", "add a line such as `verify: full`", "auditors of a job that checks nothing"))
	}
	if _, found := r.places["name"]; !found {
		r.Name = moduleName(r.Module)
		r.places["name"] = r.places["module"]
	}
	if e := r.setZip(); e != nil {
		return e
	}
	if e := r.setTrials(); e != nil {
		return e
	}
	return r.setParts()
}

func (r *reader) readKey(p yamlfile.Pair) (e *Error) {
	switch p.Key {
	case "name":
		r.Name, e = r.text(p.Value, p.Key)
	case "module":
		if r.Module, e = r.text(p.Value, p.Key); e == nil && strings.TrimSpace(r.Module) == "" {
			e = r.errorAtToken(yamlfile.First(p.Value), "name a WebAssembly file", "the module is empty")
		}
	case "args":
		r.Args, e = r.texts(p.Value, p.Key, `args: ["-tile", "{{.tile}}"]`)
	case "env":
		e = r.readEnv(p.Value)
	case "files":
		r.Files, e = r.texts(p.Value, p.Key, "files: [scene.json]")
	case "stdin":
		r.Stdin, e = r.text(p.Value, p.Key)
	case "outputs":
		r.Outputs, e = r.texts(p.Value, p.Key, `outputs: [stdout, "*.png"]`)
	case "sweep":
		e = r.readSweep(p.Value)
	case "zip":
		e = r.readZip(p.Value)
	case "trials":
		e = r.readTrials(p)
	case "work":
		r.Work, e = r.duration(p.Value, p.Key)
	case "memory":
		r.Memory, e = r.size(p.Value)
	case "replicas":
		r.Replicas, e = r.number(p.Value, p.Key)
	case "retries":
		r.Retries, e = r.number(p.Value, p.Key)
	case "deadline":
		r.Deadline, e = r.duration(p.Value, p.Key)
	case "timeout":
		r.Timeout, e = r.duration(p.Value, p.Key)
	case "priority":
		r.Priority, e = r.number(p.Value, p.Key)
	case "checkpoint":
		e = r.readCheckpoint(p.Value)
	case "verify":
		e = r.readVerify(p.Value)
	case "confirm":
		e = r.readConfirm(p.Value)
	case "auditors":
		e = r.readAuditors(p.Value)
	case "parts":
		r.parts, e = r.duration(p.Value, p.Key)
	case "stages":
		e = r.readStages(p.Value)
	case "class":
		r.Class, e = r.text(p.Value, p.Key)
	case "slots":
		if r.Slots, e = r.number(p.Value, p.Key); e == nil && r.Slots == 0 {
			e = r.errorAtToken(yamlfile.First(p.Value), "leave slots out for no limit", "slots of 0 let no task run")
		}
	case "weight":
		if r.Weight, e = r.number(p.Value, p.Key); e == nil && r.Weight == 0 {
			e = r.errorAtToken(yamlfile.First(p.Value), fmt.Sprintf("write a number from 1 to %d", MaxWeight),
				"weight of 0 is not between 1 and %d", MaxWeight)
		}
	}
	return e
}

func (r *reader) readEnv(node ast.Node) *Error {
	pairs, e := yamlfile.Pairs(r.source, node, "env", "write env: {NAME: value}")
	if e != nil {
		return e
	}
	for _, p := range pairs {
		value, e := r.text(p.Value, p.Key)
		if e != nil {
			return e
		}
		r.mark("env."+p.Key, p.Value)
		if !isIdentifier(p.Key) {
			r.places["env."+p.Key] = yamlfile.At(p.Token)
		}
		r.Env = append(r.Env, EnvVar{p.Key, value})
	}
	slices.SortFunc(r.Env, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (r *reader) readAuditors(node ast.Node) *Error {
	ids, e := r.texts(node, "auditors", "auditors: [12D3KooW...]")
	for _, id := range ids {
		r.Auditors = append(r.Auditors, PeerID(id))
	}
	return e
}

func (r *reader) readVerify(node ast.Node) *Error {
	s, e := r.text(node, "verify")
	if e != nil {
		return e
	}
	v, err := ParseVerify(s)
	if err != nil {
		return r.errorAtToken(yamlfile.First(node), "write off, 5% (of the tasks are run again), "+
			"1e-3 (at most so many wrong) or full", "%v", err)
	}
	r.VerifyOff = v == nil
	if r.Verify != nil {
		v = v.with(r.Verify.Confirm)
	}
	r.Verify = v
	return nil
}

// How long the parts may be that tasks are checked in.
const (
	minParts = time.Millisecond
	maxParts = time.Hour
)

// setParts has the tasks of a job that is checked have boundaries so far apart.
func (r *reader) setParts() *Error {
	_, found := r.places["parts"]
	switch {
	case !found:
		return nil
	case r.Verify == nil:
		return r.place(faultf("parts", "add a line such as `verify: 5%`, or leave parts out",
			"parts are of tasks that are checked"))
	case r.parts < minParts || r.parts > maxParts:
		return r.place(faultf("parts", "write a time such as 5s", "parts of %v are not between %v and %v", r.parts,
			minParts, maxParts))
	}
	r.Verify.Spacing = SpacingOf(r.parts)
	return nil
}

func (r *reader) readCheckpoint(node ast.Node) *Error {
	s, e := r.text(node, "checkpoint")
	if e != nil {
		return e
	}
	switch s {
	case "auto":
	case "off":
		r.Checkpoint.Off = true
	default:
		every, err := time.ParseDuration(s)
		if err != nil || every == 0 {
			return r.errorAtToken(yamlfile.First(node), "write auto, off or an interval such as 5m",
				"checkpoint %s is not understood", quote(s))
		}
		r.Checkpoint.Every = every
	}
	return nil
}

// text returns the text that a scalar is written in.
func (r *reader) text(node ast.Node, key string) (string, *Error) {
	s, ok := yamlfile.Text(node)
	if !ok {
		return "", r.errorAtToken(yamlfile.First(node), "quote text that has brackets, braces or colons",
			"%s is one value, this is %s", quote(key), yamlfile.Kind(node))
	}
	return s, nil
}

// texts returns the texts of a list of scalars, and marks where each stands.
func (r *reader) texts(node ast.Node, key, example string) ([]string, *Error) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil, r.errorAtToken(yamlfile.First(node), "write a list, such as "+example, "%s is a list, this is %s",
			quote(key), yamlfile.Kind(node))
	}
	texts := make([]string, 0, len(list.Values))
	for i, v := range list.Values {
		where := fmt.Sprintf("%s[%d]", key, i)
		if yamlfile.Nothing(v) {
			return nil, r.errorAtToken(yamlfile.FirstOr(v, node), `write "" for empty text`, "%s has no value", where)
		}
		s, e := r.text(v, where)
		if e != nil {
			return nil, e
		}
		r.mark(where, v)
		texts = append(texts, s)
	}
	return texts, nil
}

func (r *reader) duration(node ast.Node, key string) (time.Duration, *Error) {
	s, e := r.text(node, key)
	if e != nil {
		return 0, e
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, r.errorAtToken(yamlfile.First(node), "write a number with a unit, such as 90s, 5m or 2h30m",
			"%s: %s is not a duration", key, quote(s))
	}
	return d, nil
}

func (r *reader) size(node ast.Node) (int64, *Error) {
	s, e := r.text(node, "memory")
	if e != nil {
		return 0, e
	}
	n, err := ParseSize(s)
	if err != nil {
		return 0, r.errorAtToken(yamlfile.First(node),
			"write a size such as 256MiB; units are B, KiB, MiB, GiB, KB, MB and GB", "memory: %v", err)
	}
	return n, nil
}

func (r *reader) number(node ast.Node, key string) (int, *Error) {
	s, e := r.text(node, key)
	if e != nil {
		return 0, e
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, r.errorAtToken(yamlfile.First(node), "write a whole number, such as 3", "%s: %s is not a whole number",
			key, quote(s))
	}
	return n, nil
}

// mark remembers where a part of the file stands.
func (r *reader) mark(where string, node ast.Node) {
	r.places[where] = yamlfile.At(yamlfile.First(node))
}
