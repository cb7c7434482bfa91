package referee

import (
	"context"
	"fmt"
)

// A part of a run is judged alone: from the state before it, whose hash the worker that answers for it
// has signed, the task has to come to what that worker signed next. Whether the state before is right
// does not matter: who signed both, or that it went on from the one and came to the other, is wrong in
// any case where no run leads from the one to the other.

// part judges a part that ends in a state.
func (r *Referee) part(ctx context.Context, f *Finding) error {
	differs, untold, err := r.state(ctx, f, r.Part.To, r.Part.After)
	switch {
	case err != nil || untold != "":
		f.Why = untold
		return err
	case !differs:
		f.Verdict, f.Why = Nothing, r.what()+" comes here to what was signed"
		return nil
	}
	f.prove(r.Part.By, r.Part.Engine, r.Part.Pass)
	f.Why = r.what() + " comes to another state here"
	return nil
}

// what names what is run, for people.
func (r *Referee) what() string {
	if r.Part == nil {
		return "the whole task"
	}
	return fmt.Sprintf("the part from fuel %d to %d", r.Part.From, r.Part.To)
}
