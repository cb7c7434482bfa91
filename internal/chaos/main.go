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
	"strconv"
	"syscall"

	"godwit/internal/chaos/caller"
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
	"damage":       damageTable,
	"clock":        clock,
	scenarioNAT:    nat,
	scenarioMany:   many,
	"mixed":        mixed,

	scenarioMigration: migration,
	scenarioMoves:     moves,
	scenarioSlowMoves: slowMoves,
	scenarioHostile:   besieged,
	scenarioLiars:     liars,
	scenarioInvented:  invented,
	scenarioAudits:    audits,
	scenarioReplicas:  replicas,
	scenarioWide:      wide,
	scenarioLAN:       lan,
	scenarioDHT:       hashTable,
	scenarioPort:      port,
	scenarioWorkflow:  workflow,
	scenarioStages:    stages,
}

func scenarioNames() []string { return slices.Sorted(maps.Keys(scenarios)) }

// A skip is why a scenario cannot be tried here: rights or devices are missing.
type skip string

// Error returns the reason.
func (s skip) Error() string { return string(s) }

func main() {
	if len(os.Args) > 1 && os.Args[1] == callerVerb {
		os.Exit(call(os.Args[2:]))
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// callerVerb has this program be a host that meets others; its arguments are its number and its peers.
const callerVerb = "caller"

// call is such a host, until nobody tells it anything any more.
func call(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "chaos: error: a caller has a number")
		return exitUsage
	}
	number, err := strconv.ParseUint(args[0], 10, 8)
	if err == nil {
		err = caller.Run(context.Background(), caller.Options{Seed: byte(number), Peers: args[1:]}, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "chaos: error: %v\n", err)
		return exitBroken
	}
	return exitKept
}

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
