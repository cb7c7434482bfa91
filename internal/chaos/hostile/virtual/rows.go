package virtual

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// rows are the attacks by name.
var rows = map[string]play{
	"T1": split,
	"T2": selfDeclared,
	"T3": queried,
	"T4": eclipse,
	"T5": crowdOut,
	"T6": visitors,

	"T18": borrowers,
}

// advertEvery is the interval between adverts of strangers that do not attack by adverts.
const advertEvery = time.Minute

// Has reports whether a row runs in virtual time.
func Has(row string) bool { return rows[row] != nil }

// A Total sums up the runs of a row.
type Total struct {
	Runs, Succeeded           int
	Right, Wrong, Lost, Twice int
	Smallest, Largest         int    // pools
	Divided                   int    // runs in divided pools
	First                     string // the first run in which the attack succeeded; "" if there is none
}

// Options configure Run.
type Options struct {
	Times int    // number of variations
	Seed  uint64 // of all variations
	Only  int    // number of the single variation to run, from 1; 0 means all
	Say   func(format string, args ...any)
}

// Run runs a row's attack in variations. Say reports each.
func Run(ctx context.Context, row string, opt Options) (*Total, error) {
	p := rows[row]
	if p == nil {
		return nil, fmt.Errorf("row %s does not run in virtual time", row)
	}
	t := &Total{Smallest: mostHosts}
	for number := 1; number <= opt.Times; number++ {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		if opt.Only > 0 && opt.Only != number {
			continue
		}
		v, rng := draw(opt.Seed, number)
		begun := time.Now()
		o, err := run(p, v, rng)
		if err != nil {
			return t, fmt.Errorf("row %s, run %d of seed %d, %s: %w", row, number, opt.Seed, v, err)
		}
		line := fmt.Sprintf("run %d of seed %d, %s: %s", number, opt.Seed, o.Variation, o)
		if t.add(o); o.Succeeded != "" && t.First == "" {
			t.First = line
		}
		opt.Say("%s %s (%.1f s)", row, line, time.Since(begun).Seconds())
	}
	return t, nil
}

func (t *Total) add(o *Outcome) {
	t.Runs++
	t.Right, t.Wrong, t.Lost, t.Twice = t.Right+o.Right, t.Wrong+o.Wrong, t.Lost+o.Lost, t.Twice+o.Twice
	t.Smallest, t.Largest = min(t.Smallest, o.Variation.Hosts), max(t.Largest, o.Variation.Hosts)
	if o.Variation.Bits > 0 {
		t.Divided++
	}
	if o.Succeeded != "" {
		t.Succeeded++
	}
}

// Names returns the rows, sorted.
func Names() (out []string) {
	for name := range rows {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
