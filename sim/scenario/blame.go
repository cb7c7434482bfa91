package scenario

import (
	"errors"
	"fmt"
	"strings"

	"godwit/task"
)

// ErrorAt returns an error with the position of a key such as "rates.of[1]", or of the nearest enclosing key. "" is the
// beginning of the file.
func (e *Experiment) ErrorAt(key, hint, format string, args ...any) error {
	return e.at(key, hint, format, args...)
}

// at returns an error at a key's place, or at that of the key around it.
func (e *Experiment) at(where, hint, format string, args ...any) *task.Error {
	err := &task.Error{File: e.file, Line: 1, Column: 1, Msg: fmt.Sprintf(format, args...), Hint: hint}
	for where != "" {
		if p, found := e.places[where]; found {
			err.Line, err.Column = p.Line, p.Column
			break
		}
		where = where[:max(0, strings.LastIndexAny(where, ".["))]
	}
	return err
}

// wrap tells what is wrong with what a key names at that key's place.
func (e *Experiment) wrap(where string, err error) *task.Error {
	hint := ""
	if inner := (*task.Error)(nil); errors.As(err, &inner) {
		hint = inner.Hint
	}
	return e.at(where, hint, "%v", err)
}

// blamed are the beginnings of what sim.Scenario.Validate says, and the keys
// that it is about, of which the first that the file has is to blame. What is
// not among them is wrong with values that Decode has already refused.
var blamed = []struct {
	says string
	keys []string
}{
	{"warmup", []string{"warmup"}},
	{"the run starts", []string{"start"}},
	{"the run ends", []string{"end", "days", "start"}},
	{"trace", []string{"trace", "synth"}},
	{"placement", []string{"placement"}},
	{"migration", []string{"migration"}},
	{"fairness", []string{"fairness"}},
	{"chunking", []string{"chunking"}},
	{"workload", []string{"workload"}},
	{"hosts", []string{"hosts"}},
	{"rates", []string{"rates"}},
	{"network", []string{"network"}},
	{"checkpoints", []string{"checkpoints"}},
}

// invalid tells everything that is wrong with a run in one line, at the place of
// the first.
func (e *Experiment) invalid(err error) error {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if e.file == "" {
		return errors.New(text)
	}
	for _, b := range blamed {
		if !strings.HasPrefix(text, b.says) {
			continue
		}
		for _, k := range b.keys {
			if _, found := e.places[k]; found {
				return e.at(k, "", "%s", text)
			}
		}
	}
	return e.at("", "", "%s", text)
}
