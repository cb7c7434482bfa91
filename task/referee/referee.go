// Package referee says whose fault a wrong result is, of what was signed and of runs of its task on
// this machine. Tasks are deterministic: who runs the task can see for himself.
package referee

import (
	"bytes"
	"context"
	"fmt"

	"godwit/task"
)

// A Verdict says what a signed result proves.
type Verdict string

// The verdicts.
const (
	Proven  Verdict = "proven"  // By signed what no run of the task gives
	Nothing Verdict = "nothing" // the task gives here what was signed
	Open    Verdict = "open"    // it cannot be told here, or not whose fault it is
)

// A Finding is what came of a result.
type Finding struct {
	Verdict Verdict
	By      task.PeerID // who is proven wrong
	Why     string
	// Engine is what ran the task here, compiled; "" where its run does not tell.
	Engine string
	// Pass is the version of the pass that counted fuel here; 0 where its run does not tell.
	Pass int
	// Theirs is what By says that it ran the task with; the zero value where it does not say.
	Theirs Made
	// States are the fuels of the states that the run went on from, and Left who left each; the
	// last first.
	States []uint64
	Left   []task.PeerID
}

// Made says what ran a task: see task.Trail.
type Made struct {
	Engine string
	Pass   int
}

// prove names who is wrong.
func (f *Finding) prove(by task.PeerID, engine string, pass uint32) {
	f.Verdict, f.By, f.Theirs = Proven, by, Made{engine, int(pass)}
}

// proveSigner names who signed the result.
func (f *Finding) proveSigner(r *task.Result) {
	if t := r.Trail; t != nil {
		f.prove(r.Worker, t.Engine, t.Pass)
		return
	}
	f.prove(r.Worker, "", 0)
}

// A Referee judges one result, which was verified.
type Referee struct {
	Signed *task.Result
	// Part has that part of the run judged alone; nil for all of it.
	Part *task.Segment
	// Run runs the task, compiled or interpreted, to its end or until it has used so much fuel: from its
	// beginning, or from the state before Part. Of a run that was stopped the outcome is Interrupted, and
	// the trail has the fuel and the state's hash.
	Run func(ctx context.Context, interpreted bool, stopAt uint64) (*task.Result, error)
	// Plain is the size of content that is stored with so many bytes; nil where all is as it is stored.
	Plain func(stored int64) int64
	// Told is called before each run with what is run; nil for nothing.
	Told func(what string)
}

// Judge runs the task, and says what follows.
func (r *Referee) Judge(ctx context.Context) (Finding, error) {
	f := Finding{Verdict: Open}
	err := r.judge(ctx, &f)
	return f, err
}

func (r *Referee) judge(ctx context.Context, f *Finding) error {
	if !r.Signed.Outcome.Reproducible() {
		f.Why = fmt.Sprintf("what was signed, %v, depends on the machine", r.Signed.Outcome)
		return nil
	}
	if r.Part != nil && !r.Part.Ends() {
		return r.part(ctx, f)
	}
	here, why, err := r.ends(ctx, f)
	switch {
	case err != nil || why != "":
		f.Why = why
		return err
	case here == "" && r.Part != nil:
		f.Verdict, f.Why = Nothing, r.what()+" comes here to what was signed"
		return nil
	case here == "":
		f.Verdict, f.Why = Nothing, "the task gives here what was signed"
		return nil
	case r.Part != nil:
		f.Why = r.what() + " comes to something else here: " + here
		f.prove(r.Part.By, r.Part.Engine, r.Part.Pass)
		return nil
	}
	f.Why = here
	if r.Signed.Trail != nil && len(r.Signed.Trail.Began) > 0 {
		return r.trace(ctx, f)
	}
	f.proveSigner(r.Signed)
	return nil
}

// ends says in what the end of the task here differs from what was signed, "" for in nothing, or
// why that cannot be told.
func (r *Referee) ends(ctx context.Context, f *Finding) (differs, untold string, err error) {
	var first *task.Result
	for _, how := range []string{"compiled", "interpreted"} {
		r.tell(r.what() + ", " + how)
		here, err := r.Run(ctx, how == "interpreted", 0)
		switch {
		case err != nil:
			return "", "", err
		case !here.Outcome.Reproducible():
			return "", fmt.Sprintf("the task does not run to its end here: %v %s", here.Outcome, here.Message), nil
		}
		differs = r.Signed.Difference(here, r.Plain)
		switch {
		case first == nil && differs == "":
			return "", "", nil
		case first == nil:
			first = here
			f.ran(here)
		case first.Difference(here, nil) != "":
			return "", "compiled and interpreted runs end otherwise here: this machine errs, or the engine", nil
		}
	}
	return differs, "", nil
}

// trace runs the task up to each state that the run went on from, from the earliest, and names who
// left the first that is another here.
func (r *Referee) trace(ctx context.Context, f *Finding) error {
	chain := r.Signed.Trail.Began
	for k := range chain {
		f.States, f.Left = append(f.States, chain[k].Fuel), append(f.Left, chain[k].Voucher.Worker)
	}
	for k := len(chain) - 1; k >= 0; k-- {
		differs, untold, err := r.state(ctx, f, chain[k].Fuel, chain[k].Voucher.Hash)
		switch {
		case err != nil:
			return err
		case untold != "":
			f.Why += "; " + untold
			return nil
		case differs && k == len(chain)-1 && task.CutShort(chain):
			f.Why += "; it went wrong before the earliest state that is named"
			return nil
		case differs:
			v := &chain[k].Voucher
			f.prove(v.Worker, v.Engine, v.Pass)
			f.Why += fmt.Sprintf("; the state at fuel %d is another here", chain[k].Fuel)
			return nil
		}
	}
	f.proveSigner(r.Signed)
	f.Why += "; the states that it went on from are right"
	return nil
}

// ran notes what ran the task here, compiled.
func (f *Finding) ran(here *task.Result) {
	if here.Trail != nil {
		f.Engine, f.Pass = here.Trail.Engine, int(here.Trail.Pass)
	}
}

// state reports whether the task comes to another state here, with so much fuel used, than its worker
// signed, or why that cannot be told.
func (r *Referee) state(ctx context.Context, f *Finding, fuel uint64, signed []byte) (
	differs bool, untold string, err error) {
	var first []byte
	for _, how := range []string{"compiled", "interpreted"} {
		what := fmt.Sprintf("the task up to fuel %d", fuel)
		if r.Part != nil {
			what = r.what()
		}
		r.tell(what + ", " + how)
		here, err := r.Run(ctx, how == "interpreted", fuel)
		if err != nil {
			return false, "", err
		}
		var state []byte
		switch t := here.Trail; {
		case t != nil && t.Pass != r.Signed.Trail.Pass:
			return false, fmt.Sprintf("states are hashed in another way here, by pass %d and not %d", t.Pass,
				r.Signed.Trail.Pass), nil
		case here.Outcome == task.Interrupted && t != nil && t.Fuel == fuel:
			state = t.Last
		case here.Outcome == task.Interrupted && t != nil || here.Outcome.Reproducible(): // it has no such state
		default:
			return false, fmt.Sprintf("the task does not run that far here: %v %s", here.Outcome, here.Message), nil
		}
		switch {
		case how == "compiled" && bytes.Equal(state, signed):
			return false, "", nil
		case how == "compiled":
			first = state
			f.ran(here)
		case !bytes.Equal(first, state):
			return false, "compiled and interpreted runs come to other states here", nil
		}
	}
	return true, "", nil
}

func (r *Referee) tell(what string) {
	if r.Told != nil {
		r.Told(what)
	}
}
