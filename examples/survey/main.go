// Survey counts the words of one file, as a job over many files does it: docs/jobs.md.
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	station, scale, path := os.Args[1], os.Args[2], os.Args[3]
	text, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d words, scale %s\n", station, len(strings.Fields(string(text))), scale)
}
