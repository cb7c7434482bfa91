package main

import (
	"context"
	"fmt"
	"sync"
)

// What trials have in common that hold hosts of each kind against hosts of each.

// eachPair has each of one side do something with each of the other, as many at a time as there are kinds, and
// returns what came of it: of the first's kind, then the second's.
func eachPair[T any](ctx context.Context, t natTrial, what string, do func(i, k int) T) ([][]T, error) {
	n := len(t.kinds)
	out := make([][]T, n)
	for i := range out {
		out[i] = make([]T, n)
	}
	for round := range n {
		var wg sync.WaitGroup
		for i := range n {
			k := (i + round) % n
			wg.Go(func() { out[i][k] = do(i, k) })
		}
		wg.Wait()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.say("%s %d of %d", what, round+1, n)
	}
	return out, nil
}

// hidden are those that nobody can dial, of sides one after the other that have one of each kind.
func hidden[H any](t natTrial, sides []H) (out []H) {
	for i, h := range sides {
		if t.kinds[i%len(t.kinds)].short != publicKind {
			out = append(out, h)
		}
	}
	return out
}

// untilRelayed waits until all are reached through as many relays as they want; ask returns who one is, and how many
// it has.
func untilRelayed[H any](ctx context.Context, all []H, ask func(H) (who string, relays int, err error)) error {
	return until(ctx, natHidden, func() string {
		for _, h := range all {
			switch who, relays, err := ask(h); {
			case err != nil:
				return err.Error()
			case relays < relaysWanted:
				return fmt.Sprintf("%s has %d relays", who, relays)
			}
		}
		return ""
	})
}

// showKinds prints the head of a matrix: what it has, and the kinds.
func (t natTrial) showKinds(what string) {
	header := ""
	for _, k := range t.kinds {
		header += column(k.short)
	}
	t.report.show(what, "", "%s", header)
}

// column is a cell of a matrix, as wide as its column.
func column(cell string) string { return fmt.Sprintf("%-13s", cell) }
