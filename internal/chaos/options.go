package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// options are what a run was asked for.
type options struct {
	scenario string
	godwit   string // the binary
	before   string // that of an earlier version; "" for none
	dir      string // of the nodes; "" is a temporary one
	keep     bool   // the directory is kept, whatever happens
	seed     uint64 // of every choice
	minutes  float64
	nodes    int
	tasks    int
	wasm     bool
	json     bool
	runs     int           // of jobs among liars
	split    time.Duration // how long the network is in two
	delay    time.Duration // of a packet, one way
	loss     float64       // share of packets lost
	routers  string        // kinds of connections that meet; "" is all
	moving
	attacked
	lied
}

// moving is what is asked of the scenarios in which tasks move.
type moving struct {
	policy     string        // of migration, of the overlay that the nodes found
	grace      time.Duration // the owners'
	work       time.Duration // CPU of a task
	checkpoint time.Duration // how often it is saved
	owners     time.Duration // between two owners who return
	kills      time.Duration // between two kills
	limit      time.Duration // until the job is to be over
	sizes      string        // of guests, in MiB, with commas between them
	moves      int           // of each
	leave      string        // why a guest's node is left: one of leaveWays
	rate       float64       // of each namespace's way out, in Mbit/s; 0: no bound
}

const (
	// fewestNodes leave a majority when a group of three is gone.
	fewestNodes = 7
	// mostNodes is far more than one machine runs well; it catches typing errors.
	mostNodes = 400
)

// parse reads the command line: a scenario, then flags.
func parse(args []string, out io.Writer) (options, error) {
	o := options{scenario: "processes"}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		o.scenario, args = args[0], args[1:]
	}
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(out)
	f.Usage = func() {
		fmt.Fprintf(out, "usage: scripts/chaos [%s] [flags]\n", strings.Join(scenarioNames(), "|"))
		f.PrintDefaults()
	}
	f.StringVar(&o.godwit, "godwit", "godwit", "binary to test")
	f.StringVar(&o.before, "before", "", "binary of an earlier version, of which every other node is (mixed)")
	f.StringVar(&o.dir, "dir", "", "directory for the nodes' data and logs (default a temporary one)")
	f.BoolVar(&o.keep, "keep", false, "keep that directory (it is kept where a promise was broken)")
	f.Uint64Var(&o.seed, "seed", 0, "seed of every choice (default a random one)")
	f.Float64Var(&o.minutes, "minutes", 3, "how long processes are killed")
	f.IntVar(&o.nodes, "nodes", fewestNodes, "nodes of the swarm")
	f.IntVar(&o.tasks, "tasks", 500, "tasks of the job that processes are killed under")
	f.BoolVar(&o.wasm, "wasm", false, "compute, in WebAssembly, instead of waiting a second for each task")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.DurationVar(&o.split, "split", time.Minute, "how long the network is in two")
	f.DurationVar(&o.delay, "delay", 80*time.Millisecond, "delay of a packet between namespaces, one way")
	f.Float64Var(&o.loss, "loss", .01, "share of the packets between namespaces that are lost")
	f.StringVar(&o.routers, "routers", "", "connections that meet, with commas between them: "+
		strings.Join(routerNames(), ", ")+" (nat; default all)")
	f.StringVar(&o.rows, "rows", "", "rows to play, with commas between them, such as S1,S3 (hostile; default all)")
	f.IntVar(&o.times, "times", 100, "how often each attack is tried, each time otherwise (hostile)")
	f.BoolVar(&o.virtual, "virtual", false, "leave out real nodes: variations in virtual time only (hostile)")
	f.IntVar(&o.only, "only", 0, "number of the single variation in virtual time to repeat, from 1 (hostile; default all)")
	f.IntVar(&o.runs, "runs", 100, "number of jobs, each with new liars and a new submitter (invented)")
	f.IntVar(&o.strangers, "strangers", 16, "strangers of a crowd (hostile)")
	f.StringVar(&o.liar, "liar", "", "binary built with -tags liars (liars)")
	f.StringVar(&o.kinds, "kinds", "", "who lies, with commas between them: "+lieNames()+
		" (liars; default four of them, by the seed)")
	f.BoolVar(&o.lied.lends, "lends", true, "the submitter lends cores; else others check for it (liars)")
	f.StringVar(&o.lied.verify, "verify", verifyUsual, "what jobs say of verify (liars, audits)")
	o.moving.flags(f)
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is left over: the scenario comes first", f.Arg(0))
	}
	o.suit(f)
	for o.seed == 0 {
		o.seed = uint64(rand.Uint32())
	}
	return o, o.validate()
}

func (o options) validate() error {
	switch {
	case !slices.Contains(scenarioNames(), o.scenario):
		return fmt.Errorf("there is no scenario %q: %s", o.scenario, strings.Join(scenarioNames(), ", "))
	case o.nodes < o.fewest() || o.nodes > mostNodes:
		return fmt.Errorf("--nodes must be from %d to %d", o.fewest(), mostNodes)
	case o.tasks < 1:
		return errors.New("--tasks must be at least 1")
	case o.runs < 1:
		return errors.New("--runs must be at least 1")
	case !(o.minutes > 0) || o.split <= 0:
		return errors.New("--minutes and --split must be positive")
	case o.delay < 0 || !(o.loss >= 0 && o.loss < 1):
		return errors.New("--delay must not be negative, and --loss from 0 to below 1")
	}
	_, err := kindsOf(o.kinds, o.seed)
	_, routers := routersOf(o.routers)
	return errors.Join(err, routers, o.moving.validate(), o.attacked.validate())
}
