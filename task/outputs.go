package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What the outputs of a task may take, in bytes: its files together, and what it writes to
// standard output and standard error together. Every sandbox that runs for others keeps to
// these.
const (
	MaxTaskFiles  int64 = 256 << 20 // as much as a task may have memory
	MaxTaskOutput int64 = 16 << 20  // a log that a person could still open
)

// MaxLastWords is how much is kept of the standard error of a task that did not complete, in bytes: its
// end. It is kept whether the job asks for standard error or not, so that people see why.
const MaxLastWords = 64 << 10

// SealedSpare is by how many bytes all outputs of a task are longer at most when they are
// sealed: 16 for each, and for each 256 KiB.
const SealedSpare = 64 << 10

// CheckOutputs refuses outputs that no run of a task can have: names that the job
// does not ask for, more of them than MaxOutputs, and more bytes than a sandbox allows.
// See CheckResult.
func (j *Job) CheckOutputs(index uint64, outputs []Output) error {
	return j.checkListed(index, outputs, j.OutputsOf(index))
}

// CheckResult is CheckOutputs of those of a result, which has standard error as well where it is of a task
// that did not complete, and CheckAgreed of its chain. Whoever takes a result in, keeps it or writes it to disk calls
// it: names of files in a result are its worker's word.
func (j *Job) CheckResult(r *Result) error {
	if r.Trail != nil {
		if err := CheckAgreed(j, r.Trail.Began); err != nil {
			return err
		}
	}
	wanted := j.OutputsOf(r.Task.Index)
	if r.Outcome != Completed {
		wanted = append(slices.Clip(wanted), Stderr)
	}
	if err := j.checkListed(r.Task.Index, r.Outputs, wanted); err != nil {
		return err
	}
	return checkBegan(j, r)
}

func (j *Job) checkListed(index uint64, outputs []Output, wanted []string) error {
	if len(outputs) > MaxOutputs {
		return fmt.Errorf("%d outputs, the most is %d", len(outputs), MaxOutputs)
	}
	left := map[bool]int64{false: MaxTaskFiles, true: MaxTaskOutput}
	if len(j.Sealed) > 0 {
		left = map[bool]int64{false: MaxTaskFiles + SealedSpare, true: MaxTaskOutput + SealedSpare}
	}
	inline := j.InlineOf(index)
	for i := range outputs {
		o := &outputs[i]
		stream := o.Name == Stdout || o.Name == Stderr
		switch {
		case i > 0 && outputs[i-1].Name >= o.Name:
			return errors.New("outputs are not sorted by name, each name once")
		case ValidSandboxPath(o.Name) != nil || !MatchOutput(wanted, o.Name):
			return fmt.Errorf("the job asks for no output %s", quote(o.Name))
		case len(o.Inline) > inline:
			return fmt.Errorf("output %s has %d bytes in its result, and others that read it have room for %d", quote(o.Name),
				len(o.Inline), inline)
		case o.Size < 0 || o.Size > left[stream]:
			return fmt.Errorf("outputs of more than %s of files, or %s of text", FormatSize(MaxTaskFiles),
				FormatSize(MaxTaskOutput))
		}
		left[stream] -= o.Size
	}
	return nil
}

// HiddenOutput reports whether an output's name has a component that begins with a dot
// where no pattern of the job has one there: a file that a person does not expect, and
// other programs may heed.
func (j *Job) HiddenOutput(index uint64, name string) bool {
	for _, p := range j.OutputsOf(index) {
		if MatchOutput([]string{p}, name) && sameDots(p, name) {
			return false
		}
	}
	return true
}

// sameDots reports whether a pattern has a dot wherever a name that it matches has a
// component that begins with one. Both have as many components.
func sameDots(pattern, name string) bool {
	patterns := strings.Split(pattern, "/")
	for i, c := range strings.Split(name, "/") {
		if strings.HasPrefix(c, ".") && !strings.HasPrefix(patterns[i], ".") {
			return false
		}
	}
	return true
}
