package task

import (
	"slices"
	"strings"
)

// Unwritten returns the outputs that a job names of a task by their whole names, and that are not among those of a run
// of it, in the order of the job. Patterns may match nothing, and standard output and error are always there. index is
// below Job.Tasks.
func Unwritten(j *Job, index uint64, outputs []Output) (names []string) {
	for _, name := range j.OutputsOf(index) {
		if name == Stdout || name == Stderr || strings.ContainsAny(name, `*?[\`) ||
			slices.ContainsFunc(outputs, func(o Output) bool { return o.Name == name }) {
			continue
		}
		names = append(names, name)
	}
	return names
}
