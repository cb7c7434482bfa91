// Eternity walks through partial tilings of an edge-matching puzzle like Eternity II, and prints the deepest position
// as an object of JSON. The puzzle is made from a seed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	var o options
	flag.IntVar(&o.size, "size", 8, "number of pieces in a row, 2 to 16")
	flag.IntVar(&o.colors, "colors", 8, "number of colors of inner edges, 1 to 32")
	flag.Uint64Var(&o.puzzle, "puzzle", 1, "seed of the puzzle")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the walk")
	flag.Int64Var(&o.steps, "steps", 20_000_000, "number of pieces that a walk lays at most")
	flag.Int64Var(&o.patience, "patience", 0, "number of dead ends after which a walk begins again, 0 for never")
	flag.Parse()
	p, err := o.check()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(p.walk(&o))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "eternity:", err)
		os.Exit(1)
	}
}

// options are the program's flags.
type options struct {
	size, colors    int
	puzzle, seed    uint64
	steps, patience int64
}

// check returns the puzzle, or what is wrong with the options.
func (o *options) check() (*puzzle, error) {
	switch {
	case o.size < 2 || o.size > 16:
		return nil, fmt.Errorf("-size %d, want 2 to 16", o.size)
	case o.colors < 1 || o.colors > maxColors:
		return nil, fmt.Errorf("-colors %d, want 1 to %d", o.colors, maxColors)
	case o.steps < 1 || o.patience < 0:
		return nil, fmt.Errorf("-steps %d, -patience %d, want at least 1 and 0", o.steps, o.patience)
	}
	return newPuzzle(o.size, o.colors, o.puzzle), nil
}
