package hostile

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/internal/chaos/hostile/virtual"
	"godwit/task"
)

// A Node is a node that is attacked: a process of the program.
type Node interface {
	Peer() task.PeerID
	Addr() string // multiaddr with the ID
	Dir() string  // of its data
	PID() int
	Ended() bool  // by itself
	Said() string // the end of its log
	// Verb runs one of the program's verbs at the node, in a directory, and returns what it
	// printed; the error tells what it complained of.
	Verb(ctx context.Context, dir string, args ...string) (string, error)
	// Get asks the node's API.
	Get(ctx context.Context, path string, into any) error
	Kill()
	// Stop ends the node as its owner does.
	Stop() error
	// Again starts a node that has been stopped, with flags added to those of its first start. The error is
	// what the node said where it does not become ready.
	Again(ctx context.Context, flags ...string) error
	// Feed runs one of the program's verbs at the node's directory, with a text as standard input.
	Feed(ctx context.Context, text string, args ...string) (string, error)
}

// A Spec says how a node is started.
type Spec struct {
	Rules string   // the owner's, as text
	Peers []string // multiaddrs
	Flags []string // of the verb up, beside those that every node gets
}

// Options say what Run does.
type Options struct {
	Rows      []string // names of attacks; empty: all
	Times     int      // variations of each attack, at least 1
	Strangers int      // of a crowd, at least 1
	Seed      uint64   // of every choice
	Only      int      // number of the single variation to play in virtual time, from 1; 0 means all
	// VirtualOnly leaves out real nodes: only variations in virtual time are played.
	VirtualOnly bool
	Dir         string // for files of the run
	Start       func(ctx context.Context, s Spec) (Node, error)
	Say         func(format string, args ...any) // progress
}

// Run plays the attacks. The error is of the run itself: that the nodes could not be
// started, or that ctx ended. What was found out until then is in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	list, err := chosen(o.Rows)
	report := &Report{}
	if err != nil {
		return report, err
	}
	t := &tour{Options: o, rng: rand.New(rand.NewPCG(o.Seed, 1)), honest: newHonest()}
	defer func() { t.leave() }()
	for _, a := range list {
		row, err := t.visit(ctx, a)
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		if err != nil {
			return report, fmt.Errorf("row %s: %w", a.id, err)
		}
		report.Rows = append(report.Rows, row)
	}
	if !t.honest.first.IsZero() {
		report.Rows = append(report.Rows, t.end(ctx))
	}
	return report, ctx.Err()
}

// A tour goes from attack to attack.
type tour struct {
	Options
	rng    *rand.Rand
	shared *field // on which an honest job goes on; nil before there is one
	honest *honest
	fields int // made so far
}

// visit plays one attack.
func (t *tour) visit(ctx context.Context, a attack) (*Row, error) {
	row := &Row{ID: a.id, Before: a.before, Threat: a.threat}
	t.Say("%s: %s", a.id, a.before)
	begun := time.Now()
	if err := t.vary(ctx, a, row); err != nil {
		return nil, err
	}
	if a.play != nil && !t.VirtualOnly {
		if err := t.onNodes(ctx, a, row); err != nil {
			return nil, err
		}
	}
	row.TookS = time.Since(begun).Seconds()
	verdict := "holds"
	if !row.Holds() {
		verdict = fmt.Sprintf("BROKEN %q", row.Broken)
	}
	t.Say("%s %s after %.0f s: %s: %q", a.id, verdict, row.TookS, row.Tried, row.Now)
	return row, nil
}

// vary plays the variations of an attack that need no real node.
func (t *tour) vary(ctx context.Context, a attack, row *Row) error {
	switch {
	case a.each != nil:
		return t.varyEach(ctx, a, row)
	case !virtual.Has(a.id):
		return nil
	}
	total, err := virtual.Run(ctx, a.id, virtual.Options{Times: t.Times, Seed: t.Seed, Only: t.Only, Say: t.Say})
	if err != nil {
		return err
	}
	row.judge(&Varied{Runs: total.Runs, Succeeded: total.Succeeded, Right: total.Right, Wrong: total.Wrong,
		Lost: total.Lost, Twice: total.Twice, Seed: t.Seed,
		Of: fmt.Sprintf("pools of %d to %d hosts in virtual time, %d of them divided into cells", total.Smallest,
			total.Largest, total.Divided)}, total.First)
	return nil
}

// varyEach plays the variations of an attack on a state machine.
func (t *tour) varyEach(ctx context.Context, a attack, row *Row) error {
	v := &Varied{Seed: t.Seed, Of: a.varies}
	first := ""
	for number := 1; number <= t.Times && ctx.Err() == nil; number++ {
		if t.Only > 0 && t.Only != number {
			continue
		}
		how, err := a.each(rand.New(rand.NewPCG(t.Seed, uint64(number))))
		if err != nil {
			return fmt.Errorf("row %s, run %d of seed %d: %w", a.id, number, t.Seed, err)
		}
		if v.Runs++; how != "" {
			v.Succeeded++
			first = orFirst(first, "run %d: %s", number, how)
		}
	}
	row.judge(v, first)
	return ctx.Err()
}

// onNodes plays an attack on real nodes.
func (t *tour) onNodes(ctx context.Context, a attack, row *Row) error {
	f, err := t.fieldFor(ctx, a)
	if err != nil {
		return err
	}
	f.gauge.reset()
	playing, done := context.WithTimeout(ctx, cmp.Or(a.limit, playLimit))
	err = a.play(playing, f, row)
	done()
	f.dismiss()
	if err != nil && ctx.Err() == nil {
		row.broke("the attack could not be played to its end: %v", err)
	}
	f.hold(ctx, row, a.level)
	if a.plain {
		f.close()
	} else if !row.Holds() {
		t.honest.give(ctx, f, row.ID)
		t.leave()
	}
	return nil
}

// playLimit bounds one attack, so that one that a node stalls does not stall the run.
const playLimit = 4 * time.Minute

// fieldFor returns where an attack is played.
func (t *tour) fieldFor(ctx context.Context, a attack) (*field, error) {
	if !a.plain && t.shared != nil {
		return t.shared, t.honest.goOn(ctx, t.shared)
	}
	t.fields++
	f, err := newField(ctx, &t.Options, t.rng, t.fields, cmp.Or(a.disk, maxDisk))
	if err != nil {
		return nil, fmt.Errorf("making nodes to attack: %w", err)
	}
	if a.plain {
		return f, nil
	}
	t.shared = f
	return f, t.honest.goOn(ctx, f)
}

// leave ends the nodes of the shared field.
func (t *tour) leave() {
	if t.shared != nil {
		t.shared.close()
		t.shared = nil
	}
}

// end is the row of the honest job.
func (t *tour) end(ctx context.Context) *Row {
	begun := time.Now()
	row := &Row{ID: "job", Before: "an honest job was stopped, starved, made up or lost by any of these"}
	if t.shared != nil {
		t.honest.give(ctx, t.shared, "the end")
	}
	t.honest.tell(row)
	row.TookS = time.Since(begun).Seconds()
	return row
}
