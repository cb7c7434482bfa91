// Packaging writes what scripts/package gives out beside packages of systems: archives, and lists of what is linked.
//
// The same input comes to the same bytes, whoever makes it, where and when: all times are those that it is told.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

const usage = `usage: packaging [flags] archive DIRECTORY FILE.tar.gz|FILE.zip
       packaging [flags] bom PROGRAM FILE.cdx.json`

var errUsage = errors.New(usage)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("packaging", flag.ContinueOnError)
	epoch := flags.Int64("epoch", 0, "the time of all that is written, in seconds of Unix: that of the commit")
	version := flags.String("version", "", "of the program")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 3 {
		return errUsage
	}
	at := time.Unix(*epoch, 0).UTC()
	from, to := flags.Arg(1), flags.Arg(2)
	write := map[string]func() error{
		"archive": func() error { return archive(from, to, at) },
		"bom":     func() error { return billOfMaterials(from, to, *version, at) },
	}[flags.Arg(0)]
	if write == nil {
		return errUsage
	}
	if err := write(); err != nil {
		return fmt.Errorf("writing %s: %w", to, err)
	}
	return nil
}
