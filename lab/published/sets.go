package published

import (
	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/trace"
)

// A hostSet is one set of hosts that experiments run on: measured, or made by the generator of a kind.
type hostSet struct {
	name, kind string
	measured   *trace.Trace // nil: made
}

// chosenSets are those of some sets, by name, that are wanted, all if none is named, and there: relays
// and phones are read from the directory traces, the others are made by the generators of their
// kinds. missing names those that are not there. It fails where nothing would be left.
func chosenSets(traces string, only []string, kinds map[string]string, all []string) (out []hostSet, missing []string,
	err error) {
	if len(only) == 0 {
		only = all
	}
	from := PolicyOptions{Traces: traces}
	for _, name := range only {
		if _, err := failure.OneOf("only", name, all); err != nil {
			return nil, nil, err
		}
		s := hostSet{name: name, kind: kinds[name]}
		if s.kind == "" {
			if s.measured, err = from.measured(name); err != nil {
				return nil, nil, err
			}
			if s.measured == nil {
				missing = append(missing, name)
				continue
			}
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, nil, failure.Usage("name the directory that has them with --traces",
			"of %v no records are there, so that nothing would be run", missing)
	}
	return out, missing, nil
}

// noteMissing tells which sets are left out.
func noteMissing(p *progress.Progress, missing []string) {
	for _, m := range missing {
		p.Note("%s: left out, for --traces names no directory that has its records", m)
	}
}
