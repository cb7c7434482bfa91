package task

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of a job. They bound what a stranger's record costs to read and what
// its tasks are given, far above what real jobs ask for.
const (
	MaxInputs   = 10_000 // names that a job's files and stdin can expand to
	MaxArgs     = 1024
	MaxEnv      = 256
	MaxFiles    = 1024 // templates
	MaxPatterns = 64   // of outputs
	// MaxExpanded is the most bytes that one task's arguments and environment
	// have together: half of what Linux gives a process.
	MaxExpanded = 1 << 20
	MaxName     = 128      // bytes of a job's or overlay's name
	MinMemory   = 64 << 10 // bytes: one page of WebAssembly
	MaxMemory   = 4 << 30  // bytes: all that 32-bit WebAssembly can address
	MaxReplicas = 64
	MaxRetries  = 1000
	MaxPriority = 1000                      // and -MaxPriority is the least
	MaxWeight   = 1000                      // of a job beside others
	MaxSlots    = 1_000_000                 // of a job's limit of leases
	MaxClass    = 64                        // bytes of the name of a class
	MaxDuration = 10 * 365 * 24 * time.Hour // of work, deadline and timeout: ten years
	// MinCheckpoint is the shortest interval between checkpoints: below it a
	// task does little else.
	MinCheckpoint = time.Second
)

// Validate checks every bound of a job: the limits of this package, that names
// are sorted and stay in the sandbox, and that each point of the sweep expands
// to files that Inputs has. The cost grows with the record's size and with at
// most MaxInputs names, not with the number of tasks.
func (j *Job) Validate() error {
	// Of a job file whose tables are not read stages are not checked: no record is such a one.
	if f := checkRead(j); f != nil {
		return f
	}
	if f := j.checkShape(); f != nil {
		return f
	}
	if f := j.checkResolved(); f != nil {
		return f
	}
	return nil
}

// checkShape checks what a job has from its job file.
func (j *Job) checkShape() *fault {
	checks := []func() *fault{
		func() *fault { return checkName("name", j.Name) },
		j.checkClass,
		func() *fault { return checkStages(j) }, // before the templates: they mention axes of stages
		j.checkSweep,
		j.checkOutputs,
		j.checkNumbers,
		j.checkTimes,
		func() *fault { return j.Verify.check() },
		j.checkConfirm,
		j.checkTrials,
	}
	for _, check := range checks {
		if f := check(); f != nil {
			return f
		}
	}
	return nil
}

// checkSweep checks the sweep, and then the templates, which mention its axes, once all of it is known.
func (j *Job) checkSweep() *fault {
	if unread(j) {
		return nil
	}
	for _, check := range []func() *fault{j.Sweep.check, j.checkArgs, j.checkFiles} {
		if f := check(); f != nil {
			return f
		}
	}
	return nil
}

func checkName(where, name string) *fault {
	if name == "" {
		return faultf(where, "give it a name", "the %s is empty", where)
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return faultf(where, "use letters, digits and spaces", "%s contains a control character", quote(name))
	}
	if utf8.ValidString(name) && !isPrintable(name) {
		return faultf(where, "use letters, digits and spaces", "%s contains a character that cannot be seen", quote(name))
	}
	return checkText(where, name, MaxName)
}

// checkClass checks the job's limit of slots, its weight and the name of its class.
func (j *Job) checkClass() *fault {
	if j.Slots < 0 || j.Slots > MaxSlots {
		return faultf("slots", fmt.Sprintf("write a number from 1 to %d", MaxSlots),
			"slots of %d are not between 1 and %d", j.Slots, MaxSlots)
	}
	if j.Weight < 0 || j.Weight > MaxWeight {
		return faultf("weight", fmt.Sprintf("write a number from 1 to %d", MaxWeight),
			"weight of %d is not between 1 and %d", j.Weight, MaxWeight)
	}
	if j.Class == "" {
		return nil
	}
	if len(j.Class) > MaxClass {
		return faultf("class", "give it a short name", "the class has a name of %d bytes, the most is %d", len(j.Class),
			MaxClass)
	}
	return checkName("class", j.Class)
}

// checkArgs checks arguments and environment together, as they share a limit.
func (j *Job) checkArgs() *fault {
	if len(j.Args) > MaxArgs {
		return faultf("args", "put long lists into an input file", "%d arguments, the most is %d", len(j.Args), MaxArgs)
	}
	if len(j.Env) > MaxEnv {
		return faultf("env", "put long lists into an input file", "%d variables, the most is %d", len(j.Env), MaxEnv)
	}
	refs := j.Sweep.references()
	total := 0
	for i, a := range j.Args {
		if f := checkTemplate(fmt.Sprintf("args[%d]", i), a, refs, &total); f != nil {
			return f
		}
	}
	for i, e := range j.Env {
		where := "env." + e.Name
		if !isIdentifier(e.Name) {
			return faultf(where, "use letters, digits and _, at most 64, and no digit first",
				"%s is not a name of an environment variable", quote(e.Name))
		}
		if i > 0 && j.Env[i-1].Name >= e.Name {
			return faultf(where, "", "environment is not sorted by name, each name once")
		}
		total += len(e.Name)
		if f := checkTemplate(where, e.Value, refs, &total); f != nil {
			return f
		}
	}
	return nil
}

// checkTemplate checks a template and adds the most that it can expand to to
// total, which has to stay within MaxExpanded.
func checkTemplate(where, template string, refs []reference, total *int) *fault {
	if f := checkText(where, template, MaxExpanded); f != nil {
		return f
	}
	n, err := expandedSize(template, refs)
	if err != nil {
		return textFault(where, err)
	}
	const terminators = 2 // "=" or nothing, and the zero byte
	if *total += n + terminators; *total > MaxExpanded {
		return faultf(where, "put long text into an input file",
			"arguments and environment of a task can exceed %s", FormatSize(MaxExpanded))
	}
	return nil
}

// textFault places the error of a template or a path.
func textFault(where string, err error) *fault {
	switch e := err.(type) {
	case *templateError:
		return &fault{where, e.msg, e.hint}
	case *pathError:
		return &fault{where, e.msg, e.hint}
	}
	return &fault{where, err.Error(), ""}
}

func (j *Job) checkFiles() *fault {
	if len(j.Files) > MaxFiles {
		return faultf("files", "name the directory that has them, such as data/", "%d file names, the most is %d",
			len(j.Files), MaxFiles)
	}
	for i, t := range j.Files {
		if f := checkText(fmt.Sprintf("files[%d]", i), t, maxTemplate); f != nil {
			return f
		}
	}
	if f := checkText("stdin", j.Stdin, maxTemplate); f != nil {
		return f
	}
	return j.eachInput(func(where, name string) *fault {
		if where != "stdin" {
			name = strings.TrimSuffix(name, "/")
		}
		if e := checkPath(name); e != nil {
			return textFault(where, e)
		}
		return nil
	})
}

// maxTemplate bounds the template of a file name, in bytes: a longest name and
// as much again in braces.
const maxTemplate = 2 * maxPath

func (j *Job) checkOutputs() *fault {
	if len(j.Outputs) > MaxPatterns {
		return faultf("outputs", "write patterns, such as *.png", "%d output patterns, the most is %d", len(j.Outputs),
			MaxPatterns)
	}
	for i, p := range j.Outputs {
		if e := checkPattern(p); e != nil {
			return textFault(fmt.Sprintf("outputs[%d]", i), e)
		}
	}
	return nil
}

func (j *Job) checkNumbers() *fault {
	if f := checkMemory(j.Memory); f != nil {
		return f
	}
	for _, n := range []struct {
		where          string
		v, least, most int
	}{
		{"replicas", j.Replicas, 1, MaxReplicas},
		{"retries", j.Retries, 0, MaxRetries},
		{"priority", j.Priority, -MaxPriority, MaxPriority},
	} {
		if n.v < n.least || n.v > n.most {
			return faultf(n.where, fmt.Sprintf("write a number from %d to %d", n.least, n.most),
				"%s of %d is not between %d and %d", n.where, n.v, n.least, n.most)
		}
	}
	return nil
}

// checkMemory checks the bytes that a task may have.
func checkMemory(n int64) *fault {
	if n < MinMemory || n > MaxMemory {
		return faultf("memory", "write a size such as 256MiB", "memory of %s is not between %s and %s", FormatSize(n),
			FormatSize(MinMemory), FormatSize(MaxMemory))
	}
	return nil
}

// checkDuration checks a time of a job; 0 is none.
func checkDuration(where string, d time.Duration) *fault {
	if d < 0 || d > MaxDuration {
		return faultf(where, "write a duration such as 90s or 12h", "%s of %v is not between 0s and %v", where, d,
			MaxDuration)
	}
	return nil
}

func (j *Job) checkTimes() *fault {
	for _, d := range []struct {
		where string
		v     time.Duration
	}{{"work", j.Work}, {"deadline", j.Deadline}, {"timeout", j.Timeout}, {"checkpoint", j.Checkpoint.Every}} {
		if f := checkDuration(d.where, d.v); f != nil {
			return f
		}
	}
	switch c := j.Checkpoint; {
	case c.Off && c.Every != 0:
		return faultf("checkpoint", "", "checkpoints are both off and every %v", c.Every)
	case c.Every != 0 && c.Every < MinCheckpoint:
		return faultf("checkpoint", "write auto, off or an interval such as 5m",
			"a checkpoint every %v is more often than every %v", c.Every, MinCheckpoint)
	}
	return nil
}

// checkResolved checks what submitting adds to the job file.
func (j *Job) checkResolved() *fault {
	if f := checkName("overlay", j.Overlay); f != nil {
		return f
	}
	if f := checkRead(j); f != nil {
		return f
	}
	switch {
	case !j.Module.Valid():
		return faultf("module", "", "CID %s is not valid", quote(string(j.Module)))
	case len(j.Nonce) != NonceSize:
		return faultf("nonce", "", "%d bytes, want %d", len(j.Nonce), NonceSize)
	case len(j.Sealed) != 0 && len(j.Sealed) != KeySize:
		return faultf("sealed", "", "a commitment of %d bytes, want %d", len(j.Sealed), KeySize)
	case j.Submitted.IsZero() || !j.Submitted.valid():
		return faultf("submitted", "set this machine's clock", "%v is not a time in UTC, of the years %d to %d",
			j.Submitted, FirstYear, LastYear)
	}
	if f := j.checkInputs(); f != nil {
		return f
	}
	if f := checkStaged(j); f != nil {
		return f
	}
	return j.eachInput(func(where, name string) *fault {
		if len(inputsAt(j.Inputs, name)) == 0 {
			return faultf(where, "", "file %s is not among the inputs", quote(name))
		}
		return nil
	})
}

// checkInputs checks the list of files itself. No file may be a directory of
// another: a sandbox cannot hold both.
func (j *Job) checkInputs() *fault {
	if len(j.Inputs) > MaxInputs {
		return faultf("inputs", "", "%d inputs, the most is %d", len(j.Inputs), MaxInputs)
	}
	for i, r := range j.Inputs {
		if e := checkPath(r.Name); e != nil {
			return textFault("inputs", e)
		}
		switch {
		case i > 0 && j.Inputs[i-1].Name >= r.Name:
			return faultf("inputs", "", "not sorted by name, each name once")
		case !r.CID.Valid():
			return faultf("inputs", "", "file %s: CID %s is not valid", quote(r.Name), quote(string(r.CID)))
		case r.Size < 0:
			return faultf("inputs", "", "file %s: negative size", quote(r.Name))
		}
		for k := range len(r.Name) {
			if r.Name[k] != '/' {
				continue
			}
			if _, found := findInput(j.Inputs[:i], r.Name[:k]); found {
				return faultf("inputs", "", "%s is both a file and the directory of %s", quote(r.Name[:k]), quote(r.Name))
			}
		}
	}
	return nil
}
