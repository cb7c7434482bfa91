// Godwit is one peer of a peer-to-peer volunteer computing network, and every
// tool that goes with it: run `godwit help`.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"godwit/sandbox"
)

func main() {
	// A sandbox child is started for every stream of tasks: it skips everything
	// that the other verbs need.
	if len(os.Args) == 2 && os.Args[1] == sandboxVerb {
		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program without the process around it, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return report(stderr, root.ExecuteContext(ctx))
}
