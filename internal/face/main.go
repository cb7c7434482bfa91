package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// The exit codes of godwit itself: docs/cli.md.
const (
	exitAsAsked = 0
	exitNotSo   = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("face", flag.ContinueOnError)
	flags.SetOutput(errs)
	godwit := flags.String("godwit", "bin/godwit", "the `FILE` that is tried")
	pictures := flags.String("pictures", "", "`DIR` for pictures of all pages; none without")
	module := flags.String("module", "", "`FILE` with examples/render as a module: the job that is dropped; without, "+
		"one that is over at once")
	watch := flags.Duration("watch", 0, "`TIME` over which it is measured what an open page costs its node; without, it "+
		"is not held to its target")
	only := flags.String("only", "", "`CHECKS` to carry out, with commas between them, behind the door; all without")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitAsAsked
	case err != nil || flags.NArg() > 0:
		return exitUsage
	}
	f, err := open(ctx, *godwit)
	if err != nil {
		fmt.Fprintf(errs, "face: error: %v\n", err)
		return exitNotSo
	}
	f.pictures, f.module, f.watch = *pictures, *module, *watch
	var rows []row
	for i, c := range checks {
		if named := strings.Split(*only, ","); i > 0 && *only != "" && !slices.Contains(named, c.name) {
			continue
		}
		rows = append(rows, f.look(c))
		fmt.Fprintf(errs, "%s: %.1f s\n", c.name, rows[len(rows)-1].took.Seconds())
	}
	if err := f.close(); err != nil {
		fmt.Fprintf(errs, "face: error: %v\n", err)
		return exitNotSo
	}
	if tell(out, rows) > 0 {
		return exitNotSo
	}
	return exitAsAsked
}

// open starts the swarm and the browser.
func open(ctx context.Context, godwit string) (_ *face, err error) {
	path, err := findChromium()
	if err != nil {
		return nil, err
	}
	f := &face{ctx: ctx}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f.dir, err = os.MkdirTemp("", "godwit-face-"); err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	if f.swarm, err = startSwarm(ctx, godwit, f.dir); err != nil {
		return nil, err
	}
	if f.browser, err = openBrowser(ctx, path); err != nil {
		return nil, err
	}
	return f, nil
}

// close ends what open began.
func (f *face) close() error {
	var errs []error
	if f.browser != nil {
		f.browser.close()
	}
	if f.swarm != nil {
		errs = append(errs, f.swarm.stop())
	}
	if f.dir != "" {
		errs = append(errs, os.RemoveAll(f.dir))
	}
	return errors.Join(errs...)
}
