package task

import "fmt"

// Difference says where what came of a task here parts from what a worker signed of it: the first
// difference, and how many outputs differ; or, of the same outputs, how the trails part. It is ""
// where nothing does. size tells what is said of an output that is stored with so many bytes; nil
// for these.
func (r *Result) Difference(here *Result, size func(stored int64) int64) string {
	if r.Outcome != here.Outcome {
		return fmt.Sprintf("it ended as %v here, as %v by the result", here.Outcome, r.Outcome)
	}
	if r.ExitCode != here.ExitCode {
		return fmt.Sprintf("it ended with exit code %d here, with %d by the result", here.ExitCode, r.ExitCode)
	}
	if size == nil {
		size = func(stored int64) int64 { return stored }
	}
	switch first, n := r.outputsDiffer(here, size); n {
	case 0:
		return r.Trail.Difference(here.Trail)
	case 1:
		return first
	default:
		return fmt.Sprintf("%s, and %d outputs more differ", first, n-1)
	}
}

// lastWords reports whether an output is what a task said before it failed, which workers of before did not
// keep where the job asked for no standard error.
func (r *Result) lastWords(output string) bool { return output == Stderr && r.Outcome != Completed }

// outputsDiffer says how the first output that differs does, and how many do.
func (r *Result) outputsDiffer(here *Result, size func(int64) int64) (first string, n int) {
	theirs := map[string]*Output{}
	for i := range r.Outputs {
		theirs[r.Outputs[i].Name] = &r.Outputs[i]
	}
	note := func(format string, args ...any) {
		if n++; first == "" {
			first = fmt.Sprintf(format, args...)
		}
	}
	for i := range here.Outputs {
		o := &here.Outputs[i]
		their := theirs[o.Name]
		delete(theirs, o.Name)
		switch {
		case their == nil && here.lastWords(o.Name):
		case their == nil:
			note("%s is not among the result's outputs", o.Name)
		case their.Size != o.Size:
			note("%s has %d bytes here, %d by the result", o.Name, size(o.Size), size(their.Size))
		case their.CID != o.CID:
			note("%s has other bytes here", o.Name)
		}
	}
	for i := range r.Outputs { // in order
		if name := r.Outputs[i].Name; theirs[name] != nil && !r.lastWords(name) {
			note("%s is not written here", name)
		}
	}
	return first, n
}
