package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// The exit codes of godwit itself: docs/cli.md.
const (
	exitKept   = 0
	exitBroken = 1
	exitUsage  = 2
)

// scenarios are what a run can do, by name.
var scenarios = map[string]func(context.Context, *trial) error{
	"processes":    processes,
	"coordinators": coordinators,
	"split":        split,
	"disk":         disk,
	"corrupt":      corrupt,
	"clock":        clock,
	scenarioMany:   many,
	"mixed":        mixed,

	scenarioMigration: migration,
	scenarioMoves:     moves,
	scenarioSlowMoves: slowMoves,
	scenarioHostile:   besieged,
	scenarioLiars:     liars,
	scenarioAudits:    audits,
	scenarioReplicas:  replicas,
	scenarioWide:      wide,
	scenarioLAN:       lan,
}

func scenarioNames() []string { return slices.Sorted(maps.Keys(scenarios)) }

// A skip is why a scenario cannot be tried here: rights or devices are missing.
type skip string

// Error returns the reason.
func (s skip) Error() string { return string(s) }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program without the process around it. What it started is gone
// when it returns.
func run(args []string, out, progress io.Writer) int {
	o, err := parse(args, progress)
	if errors.Is(err, flag.ErrHelp) {
		return exitKept
	}
	if err != nil {
		fmt.Fprintf(progress, "chaos: error: %v\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t, err := newTrial(o, progress)
	if err != nil {
		fmt.Fprintf(progress, "chaos: error: %v\n", err)
		return exitBroken
	}
	ctx, cancel := context.WithCancel(ctx)
	defer func() { cancel(); t.close() }() // what watches ends first
	t.say("scenario %s, seed %d", o.scenario, o.seed)
	var why skip
	switch err = scenarios[o.scenario](ctx, t); {
	case errors.As(err, &why):
		t.report.Skipped = string(why)
	case ctx.Err() != nil:
		t.report.must("the scenario was played to its end", errors.New("interrupted"))
	case err != nil:
		t.report.must("the scenario could be played to its end", err)
	}
	if err := t.report.write(out, o.json); err != nil || t.report.broken() > 0 {
		return exitBroken
	}
	return exitKept
}
