// Command child is the process in which the tests of package guests run their
// tasks: the same on every architecture, and without the race detector, which
// would make it many times slower and sees nothing of what a guest does.
package main

import (
	"os"

	"godwit/sandbox"
)

func main() { os.Exit(sandbox.Main(os.Stdin, os.Stdout)) }
