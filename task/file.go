package task

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"godwit/internal/yamlfile"
)

// What a job has where its file says nothing.
const (
	DefaultMemory   = 256 << 20 // bytes
	DefaultReplicas = 1
	DefaultRetries  = 3
)

// A File is a job as its owner writes it: files are names, and what is not
// written has its default. ParseFile and DefaultFile make it valid; Job makes
// a Job of it.
type File struct {
	Name   string // the module's base name without ".wasm", where the file gives none
	Module string // path of the module as written: relative to the job file, or absolute

	Args    []string // templates
	Env     []EnvVar // values are templates; sorted by name
	Files   []string // templates of names relative to the job file, and to the sandbox's root
	Stdin   string   // a template like those of Files; "" for none
	Outputs []string // patterns; the default is standard output
	Sweep   Sweep
	// Sources are those of the axes that have tables, of a stage by STAGE.AXIS; nil for none.
	Sources map[string]Source

	Work       time.Duration // 0: unknown
	Memory     int64         // bytes
	Replicas   int
	Retries    int
	Deadline   time.Duration // 0: none
	Timeout    time.Duration // of one attempt; 0: see Job.TimeLimit
	Priority   int
	Checkpoint Checkpoint
	Class      string   // "": none
	Weight     int      // 0 is 1
	Slots      int      // 0: no limit
	Verify     *Verify  // nil: the overlay's default, or with VerifyOff nothing
	VerifyOff  bool     // the file has "verify: off"
	Auditors   []PeerID // of Verify's
	Trials     *Trials  // nil: each point has Sweep.Repeat trials
	// Stages are those of a job that has some, each after those that it reads. Module, Args, Env, Files, Stdin,
	// Outputs and Sweep are empty then.
	Stages []FileStage

	source string                       // name of the job file
	places map[string]yamlfile.Position // of a fault's where
}

// newFile returns a file of defaults.
func newFile(source string) *File {
	return &File{
		Outputs:  []string{Stdout},
		Memory:   DefaultMemory,
		Replicas: DefaultReplicas,
		Retries:  DefaultRetries,
		source:   source,
		places:   make(map[string]yamlfile.Position),
	}
}

// DefaultFile returns the job of one task that runs a module with arguments,
// which are taken as they are: braces in them are no templates. It has no input
// files; its output is what the module prints.
func DefaultFile(module string, args []string) *File {
	f := newFile("")
	f.Module = module
	f.Name = moduleName(module)
	for _, a := range args {
		f.Args = append(f.Args, strings.ReplaceAll(a, "{{", `{{"{{"}}`))
	}
	return f
}

// moduleName derives a job's name from the path of its module.
func moduleName(module string) string {
	name := path.Base(strings.ReplaceAll(module, `\`, "/"))
	name = strings.TrimSuffix(name, ".wasm")
	return clip(name, MaxName)
}

// ErrorAt returns an error about a place of the job file: "module", "stdin",
// "files[0]", "args[2]", "env.NAME", "sweep.AXIS". A place that the file does
// not have is reported at the nearest place around it.
func (f *File) ErrorAt(where, msg, hint string) *Error {
	e := &Error{File: f.source, Msg: msg, Hint: hint}
	for f.source != "" {
		if p, found := f.places[where]; found {
			e.Line, e.Column = p.Line, p.Column
			break
		}
		end := strings.LastIndexAny(where, ".[")
		if end < 0 {
			break
		}
		where = where[:end]
	}
	return e
}

// InputError returns an error about one of the names that InputNames returned,
// at the place of the template that it comes from.
func (f *File) InputError(name, msg, hint string) *Error {
	found := f.draft().eachInput(func(where, n string) *fault {
		if n == name || isDir(n) && strings.HasPrefix(name, n) || IsPattern(n) && MatchFile(n, name) {
			return &fault{where: where}
		}
		return nil
	})
	where := f.tabledFiles()
	if found != nil {
		where = found.where
	}
	return f.ErrorAt(where, fmt.Sprintf("file %s: %s", name, msg), hint)
}

// place gives a fault its line and column.
func (f *File) place(ft *fault) *Error { return f.ErrorAt(ft.where, ft.msg, ft.hint) }

// draft returns the job without what submitting adds. It shares memory with f.
func (f *File) draft() *Job {
	return &Job{
		Name:       f.Name,
		Args:       f.Args,
		Env:        f.Env,
		Files:      f.Files,
		Stdin:      f.Stdin,
		Outputs:    f.Outputs,
		Sweep:      f.Sweep,
		Work:       f.Work,
		Memory:     f.Memory,
		Replicas:   f.Replicas,
		Retries:    f.Retries,
		Deadline:   f.Deadline,
		Timeout:    f.Timeout,
		Priority:   f.Priority,
		Checkpoint: f.Checkpoint,
		Class:      f.Class,
		Weight:     f.Weight,
		Slots:      f.Slots,
		Verify:     f.Verify.by(f.Auditors),
		Trials:     f.Trials.clone(),
		Stages:     f.stages(),
	}
}

// Validate checks the file as ParseFile did; for callers that changed it, as by
// a flag of the command line. Errors are of type *Error.
func (f *File) Validate() error {
	if ft := f.draft().checkShape(); ft != nil {
		return f.place(ft)
	}
	return nil
}

// InputNames returns every distinct name of a file that Files and Stdin can expand to,
// sorted: at most MaxInputs. The caller reads them relative to the job file, and what there is of
// InputDirs and InputPatterns.
// Errors are of type *Error.
func (f *File) InputNames() ([]string, error) {
	patterns := f.InputPatterns()
	return f.distinct(func(name string) bool { return !isDir(name) && !slices.Contains(patterns, name) })
}

// Job returns the job to sign. Module is the stored module; inputs has the
// stored file of every name of InputNames, of all that lies below InputDirs, of all that
// InputPatterns match and of all that tables name, whatever Name it carries; overlay
// names the overlay that the job is handed to; nonce is NonceSize random bytes.
// The job is valid, and shares no memory with the arguments. Errors are of type
// *Error.
func (f *File) Job(module CID, inputs map[string]FileRef, overlay string, submitted time.Time, nonce []byte) (*Job,
	error) {
	f, err := f.resolved(inputs)
	if err != nil {
		return nil, err
	}
	names, err := f.distinct(func(name string) bool { return !isDir(name) })
	if err != nil {
		return nil, err
	}
	dirs, err := f.InputDirs()
	if err != nil {
		return nil, err
	}
	j := f.draft()
	j.Args, j.Env = slices.Clone(j.Args), slices.Clone(j.Env)
	j.Files, j.Outputs = slices.Clone(j.Files), slices.Clone(j.Outputs)
	j.Sweep = j.Sweep.clone()
	for i := range j.Stages {
		j.Stages[i] = j.Stages[i].clone()
	}
	if v := j.Verify; v != nil {
		j.Verify = v.with(v.Confirm)
	}
	slices.SortFunc(j.Env, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	for _, name := range names {
		ref, found := inputs[name]
		if !found {
			return nil, f.InputError(name, "it has not been stored", "")
		}
		ref.Name = name
		j.Inputs = append(j.Inputs, ref)
	}
	addBelow(j, dirs, inputs)
	if len(j.Tables()) > 0 {
		j.addNamed(inputs)
	}
	j.Module, j.Overlay = module, overlay
	if len(j.Stages) > 0 {
		j.Module = j.Stages[0].Module
	}
	j.Submitted, j.Nonce = Time{submitted.Round(0).UTC()}, bytes.Clone(nonce)
	if ft := j.checkShape(); ft != nil {
		return nil, f.place(ft)
	}
	if ft := j.checkResolved(); ft != nil {
		return nil, f.place(ft)
	}
	return j, nil
}
