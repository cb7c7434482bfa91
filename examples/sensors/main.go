// Sensors simulates a small wireless sensor network: nodes are scattered in a square, measurements travel from node to
// node to a sink in the middle, and each packet takes energy. The program prints the outcome of one network as JSON.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	nodes := flag.Int("nodes", 100, "number of nodes")
	reach := flag.Float64("range", 20, "radio range in meters")
	seed := flag.Uint64("seed", 0, "seed of the nodes' places and of lost packets")
	flag.Parse()
	if err := run(*nodes, *reach, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "sensors:", err)
		os.Exit(1)
	}
}

func run(nodes int, reach float64, seed uint64) error {
	const most = 10_000
	if nodes < 1 || nodes > most {
		return fmt.Errorf("%d nodes, want 1 to %d", nodes, most)
	}
	if !(reach > 0) {
		return fmt.Errorf("a radio range of %v m, want more than 0", reach)
	}
	n := scatter(nodes, reach, seed)
	n.route()
	return json.NewEncoder(os.Stdout).Encode(n.live())
}
