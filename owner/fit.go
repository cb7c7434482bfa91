package owner

import (
	"fmt"
	"strings"

	"godwit/internal/yamlfile"
	"godwit/task"
)

// LeastMemory is the least memory, in bytes, that a rule may lend unless it lends none:
// a number below is one whose unit was forgotten. No toolchain makes a program that
// needs less.
const LeastMemory = 1 << 20

// fitting are the rules of which a machine may have less than they say.
var fitting = []struct {
	rule   string
	amount func(*Rules) Amount
	total  func(Machine) int64
	format func(int64) string
}{
	{"max_cores", func(r *Rules) Amount { return r.MaxCores }, Machine.cores, formatCores},
	{"max_cores_busy", func(r *Rules) Amount { return r.MaxCoresBusy }, Machine.cores, formatCores},
	{"max_memory", func(r *Rules) Amount { return r.MaxMemory }, Machine.memory, task.FormatSize},
	{"max_memory_busy", func(r *Rules) Amount { return r.MaxMemoryBusy }, Machine.memory, task.FormatSize},
}

func (m Machine) cores() int64  { return int64(m.Cores) }
func (m Machine) memory() int64 { return m.Memory }

// fit returns what is wrong with a rule on a machine, and what to write instead; ""
// for nothing. What the machine has none of is not known, and anything fits it.
func fit(rule string, r *Rules, m Machine) (wrong, hint string) {
	for _, f := range fitting {
		lent, has := f.amount(r).absolute, f.total(m)
		if f.rule == rule && has > 0 && lent > has {
			return fmt.Sprintf("%s is more than this machine has: %s", f.format(lent), f.format(has)),
				fmt.Sprintf("write at most %s, or a share such as 50%%", f.format(has))
		}
	}
	return "", ""
}

// ParseFor is Parse for a file that holds on one machine: a rule that lends more cores
// or memory than there are is an error, since it was hardly meant. Of the machine,
// what is 0 is not known, and any rule fits it.
func ParseFor(name string, src []byte, m Machine) (Rules, error) {
	r, err := Parse(name, src)
	if err != nil {
		return r, err
	}
	pairs, err := topPairs(name, src)
	if err != nil {
		return r, err
	}
	for _, p := range pairs {
		if wrong, hint := fit(p.Key, &r, m); wrong != "" {
			return r, yamlfile.ErrorAt(name, p.Value.GetToken(), hint, "%s: %s", p.Key, wrong)
		}
	}
	return r, nil
}

// checkFit refuses a changed rule that lends more than a machine has.
func checkFit(path string, src []byte, name string, m Machine) error {
	r, err := Parse(path, src)
	if err != nil {
		return err
	}
	rule, _, _ := strings.Cut(name, ".")
	if wrong, hint := fit(rule, &r, m); wrong != "" {
		return &task.Error{Msg: rule + ": " + wrong, Hint: hint}
	}
	return nil
}
