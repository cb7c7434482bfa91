// Survey prints how large, layered, tested and documented the module is whose root
// is the working directory: see scripts/house.
package main

import (
	"flag"
	"fmt"
	"os"

	"godwit/internal/house"
)

func main() {
	check := flag.Bool("check", false, "end with 1 if a limit is broken")
	root := flag.String("root", ".", "the module's root")
	flag.Parse()
	s, err := house.Measure(*root)
	if err == nil {
		err = s.Print(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "house: error:", err)
		os.Exit(2)
	}
	if *check && !s.Holds() {
		os.Exit(1)
	}
}
