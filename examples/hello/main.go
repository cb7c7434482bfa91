// Hello is a program of ten lines to try things with: docs/jobs.md.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Println("hello,", os.Args[1])
}
