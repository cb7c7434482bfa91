// Guest is the program that scripts/chaos --wasm runs as a task: it takes a walk
// and prints where that ends.
//
//	guest START STEPS
package main

import (
	"fmt"
	"os"

	"godwit/internal/chaos/walk"
)

func main() {
	var start uint64
	var steps int
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: guest START STEPS")
		os.Exit(2)
	}
	if _, err := fmt.Sscan(os.Args[1]+" "+os.Args[2], &start, &steps); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(2)
	}
	fmt.Println(walk.End(start, steps))
}
