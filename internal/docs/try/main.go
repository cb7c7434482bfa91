//go:build unix

// Try runs the commands in documents as a new user would, each document in a copy of the
// project of its own, and fails on a command that does not do what the text says. See
// scripts/docs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"godwit/internal/docs"
)

// quickLimit is how long a block may say that it takes to be run by --quick.
const quickLimit = 20 * time.Second

func main() {
	quick := flag.Bool("quick", false, "leave out blocks that take longer than 20 s")
	godwit := flag.String("godwit", "", "program to try")
	verbose := flag.Bool("v", false, "show what each block printed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok, err := try(ctx, flag.Args(), options{quick: *quick, godwit: *godwit, verbose: *verbose})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

type options struct {
	quick, verbose bool
	godwit         string
}

// tally counts blocks of commands by what became of them.
type tally struct{ ran, later, notTried, failed int }

// try runs the documents one after the other and reports whether all did what they say.
func try(ctx context.Context, paths []string, o options) (bool, error) {
	var all tally
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		blocks, err := docs.Blocks(string(text))
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		begun := time.Now()
		n, err := tryOne(ctx, path, blocks, o)
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		fmt.Printf("%-24s %3d run, %d left for the full run, %d marked as not tried, %d failed  (%.0f s)\n",
			path, n.ran, n.later, n.notTried, n.failed, time.Since(begun).Seconds())
		all = tally{all.ran + n.ran, all.later + n.later, all.notTried + n.notTried, all.failed + n.failed}
	}
	fmt.Printf("%-24s %3d run, %d left for the full run, %d marked as not tried, %d failed\n",
		"all", all.ran, all.later, all.notTried, all.failed)
	return all.failed == 0, nil
}

// tryOne runs the blocks of one document in a new copy of the project. After a block that
// fails the rest is left: it may rest on it.
func tryOne(ctx context.Context, path string, blocks []docs.Block, o options) (n tally, err error) {
	var u *user
	if slices.ContainsFunc(blocks, func(b docs.Block) bool { return toRun(b, o) }) {
		if u, err = newUser(ctx, o.godwit); err != nil {
			return n, err
		}
		defer u.leave()
	}
	for _, b := range blocks {
		at := fmt.Sprintf("%s:%d", path, b.Line)
		if b.File != "" && u != nil {
			if err := u.save(b); err != nil {
				return n, fmt.Errorf("%s: %w", at, err)
			}
		}
		switch {
		case b.Kind != "sh":
		case b.Marks.NotTried != "":
			n.notTried++
			fmt.Printf("%s: not tried: %s\n", at, b.Marks.NotTried)
		case !toRun(b, o):
			n.later++
		case u != nil && !u.has(ctx, b.Marks.Needs):
			n.notTried++
			fmt.Printf("%s: not tried here: `%s` fails\n", at, b.Marks.Needs)
		default:
			printed, err := u.run(ctx, b)
			if o.verbose {
				fmt.Printf("%s:\n%s\n", at, printed)
			}
			if err != nil {
				n.failed++
				fmt.Printf("%s: %v\n--- commands\n%s--- printed\n%s", at, err, b.Text, printed)
				if b.Output != "" {
					fmt.Printf("--- shown\n%s", b.Output)
				}
				return n, nil
			}
			n.ran++
		}
	}
	return n, nil
}

// toRun reports whether a block is one of commands that are to be run now.
func toRun(b docs.Block, o options) bool {
	return b.Kind == "sh" && b.Marks.NotTried == "" && !(o.quick && b.Marks.Takes > quickLimit)
}

// save writes the file that a block shows.
func (u *user) save(b docs.Block) error {
	path := filepath.Join(u.project, filepath.FromSlash(b.File))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.Text), 0o644)
}
