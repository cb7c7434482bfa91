package hostile

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// An attack is one row of the report.
type attack struct {
	id     string // of the threat
	threat string // in a few words, for the table; "" for rows that are not in it
	before string // what came of it before anything was done about it
	// plain attacks need nodes of their own, so that what they do to them is told apart;
	// the others are played one after the other on nodes under which an honest job goes on.
	plain bool
	// level has how late the leader's renewals of its lease come judged too.
	level bool
	// limit bounds the attack on real nodes; 0 is the usual limit.
	limit time.Duration
	// disk is what owners let the nodes keep, in bytes; 0 is the usual.
	disk int64
	// each plays one variation on a state machine, and returns how the attack succeeded, "" if it did not; nil for
	// other rows. varies says what varies.
	each   func(rng *rand.Rand) (string, error)
	varies string
	// play attacks real nodes; nil for rows that run in virtual time only (package virtual).
	play func(ctx context.Context, f *field, row *Row) error
}

// attacks are all of them, in the order in which they are played: what fills memory and
// disks last.
func attacks() []attack {
	return slices.Concat(pools(), tenants(), browsers(), tables(), reusedRows(), credits(), hints(), damaged(),
		poisons(), claims(),
		forgeries(), thefts(), words(), ledgers(), quotas(), crowds(), walls(),
		secrets(), roads(), disks(), leaders())
}

// Names returns the attacks that there are.
func Names() []string {
	var out []string
	for _, a := range attacks() {
		out = append(out, a.id)
	}
	return out
}

// chosen returns the attacks of those names; all without any.
func chosen(names []string) ([]attack, error) {
	all := attacks()
	if len(names) == 0 {
		return all, nil
	}
	var out []attack
	for _, name := range names {
		i := slices.IndexFunc(all, func(a attack) bool { return strings.EqualFold(a.id, name) })
		if i < 0 {
			return nil, fmt.Errorf("there is no row %q: %s", name, strings.Join(Names(), ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// Check fails for names of which there is no attack.
func Check(names []string) error {
	_, err := chosen(names)
	return err
}
