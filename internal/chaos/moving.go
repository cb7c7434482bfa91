package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The scenarios in which tasks move.
const (
	scenarioMigration = "migration"
	scenarioMoves     = "moves"
	scenarioSlowMoves = "slowmoves"
)

// leaveWays are why a guest's node is left: `godwit drain`; a notice that its machine
// goes soon, as a replayed owner gives it; and the owner's word that nothing runs.
var leaveWays = []string{leaveDrain, leaveNotice, leavePause}

const (
	leaveNotice = "notice"
	leavePause  = "pause"
	leaveDrain  = "drain"
)

// flags reads what is asked.
func (m *moving) flags(f *flag.FlagSet) {
	f.StringVar(&m.policy, "migration", "reactive", "policy of the overlay in which tasks move")
	f.DurationVar(&m.grace, "grace", time.Second, "how long a stopped task waits before it goes elsewhere")
	f.DurationVar(&m.work, "work", 20*time.Second, "CPU of each task that moves")
	f.DurationVar(&m.checkpoint, "checkpoint", 4*time.Second, "how often each of them is saved")
	f.DurationVar(&m.owners, "owners", 2*time.Second, "time between two owners who return")
	f.DurationVar(&m.kills, "kills", 10*time.Second, "time between two kills under tasks that move")
	f.DurationVar(&m.limit, "limit", 30*time.Minute, "how long the job of tasks that move may take")
	f.StringVar(&m.sizes, "sizes", "1,64,512", "MiB of the guests that are moved to and fro")
	f.IntVar(&m.moves, "moves", 5, "moves of each")
	f.StringVar(&m.leave, "leave", leaveDrain, "why a guest leaves its node: "+strings.Join(leaveWays, ", "))
	f.Float64Var(&m.rate, "rate", 50, "Mbit/s out of each namespace in which tasks move")
}

// A suit is what a scenario takes where nothing else is asked; 0 leaves what all take.
type suit struct {
	nodes, tasks, strangers int
	wasm                    bool // its tasks run WebAssembly
}

var suits = map[string]suit{
	scenarioMany:      {nodes: manyNodes, tasks: manyTasks},
	scenarioAudits:    {nodes: auditNodes, wasm: true},
	scenarioStages:    {nodes: stagesNodes, tasks: stagesTasks, wasm: true},
	scenarioWorkflow:  {nodes: workflowNodes, wasm: true},
	scenarioInvented:  {nodes: inventedNodes, tasks: inventedTasks, wasm: true},
	scenarioLiars:     {nodes: liarNodes, tasks: liarTasks, wasm: true},
	scenarioMigration: {nodes: migrationNodes, tasks: migrationTasks},
	scenarioReplicas:  {nodes: replicaNodes, tasks: replicaTasks},
	scenarioDHT:       {nodes: dhtNodes, strangers: dhtStrangers},
}

// suit gives a scenario its own defaults for what was not asked.
func (o *options) suit(f *flag.FlagSet) {
	asked := map[string]bool{}
	f.Visit(func(f *flag.Flag) { asked[f.Name] = true })
	own := suits[o.scenario]
	o.wasm = o.wasm || own.wasm
	for name, to := range map[string]struct{ of, is *int }{
		"nodes": {&o.nodes, &own.nodes}, "tasks": {&o.tasks, &own.tasks}, "strangers": {&o.strangers, &own.strangers},
	} {
		if !asked[name] && *to.is > 0 {
			*to.of = *to.is
		}
	}
	switch o.scenario {
	case scenarioWide:
		o.nodes = wideNodes
	case scenarioLAN:
		o.nodes = lanNodes
	case scenarioMoves, scenarioSlowMoves:
		o.nodes = movesNodes
		if !asked["delay"] {
			o.delay = slowDelay
		}
		if !asked["loss"] {
			o.loss = 0
		}
	}
}

// fewest is how many nodes a scenario takes at least.
func (o *options) fewest() int {
	switch o.scenario {
	case scenarioMigration:
		return fewestLive + 1
	case scenarioMoves, scenarioSlowMoves:
		return movesNodes
	case scenarioWide:
		return wideNodes
	case scenarioLAN:
		return lanNodes
	case scenarioDHT:
		return dhtFewest
	case scenarioWorkflow:
		return workflowNodes
	case scenarioStages:
		return stagesNodes
	case scenarioAudits:
		return auditNodes
	case scenarioLiars:
		return liarNodes
	}
	return fewestNodes
}

func (m *moving) validate() error {
	_, err := m.mebibytes()
	switch {
	case err != nil:
		return err
	case m.work <= 0 || m.checkpoint <= 0 || m.owners <= 0 || m.kills <= 0 || m.limit <= 0 || m.grace < 0:
		return errors.New("--work, --checkpoint, --owners, --kills and --limit must be positive, and --grace not negative")
	case m.moves < 1:
		return errors.New("--moves must be at least 1")
	case !(m.rate >= 0):
		return errors.New("--rate must not be negative")
	case !slices.Contains(leaveWays, m.leave):
		return fmt.Errorf("--leave %s: there is %s", m.leave, strings.Join(leaveWays, ", "))
	}
	return nil
}

// mostMebibytes is what a guest of 32-bit addresses can have beside its program.
const mostMebibytes = 3 << 10

// mebibytes reads the guests' sizes.
func (m *moving) mebibytes() (sizes []int, err error) {
	for part := range strings.SplitSeq(m.sizes, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > mostMebibytes {
			return nil, fmt.Errorf("--sizes %s: %q is no number from 1 to %d", m.sizes, part, mostMebibytes)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}
