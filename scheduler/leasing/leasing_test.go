package leasing

import "testing"

const no = Refused

// afterwards says, by the state before, what each event leads to. The code has the same by
// event: whoever changes one has to mean it.
var afterwards = map[State][Events]State{
	// Starts, Supposes, Unstarts, AsksBack, Saves, Hands, Stays, Fetches, Stalls, Brings, Ends
	Refused:         {no, no, no, no, no, no, no, no, no, no, no},
	Placed:          {Running, Supposed, Placed, Recalled, SavingPlaced, HandingPlaced, no, Fetching, no, Bringing, Over},
	Supposed:        {Running, no, Placed, no, SavingSupposed, HandingSupposed, no, Fetching, no, Bringing, Over},
	Running:         {Running, no, Placed, no, SavingRunning, HandingRunning, no, Fetching, no, Bringing, Over},
	Recalled:        {Running, no, Recalled, no, no, HandingPlaced, no, Fetching, no, Bringing, Over},
	SavingPlaced:    {SavingRunning, no, SavingPlaced, no, no, HandingPlaced, Placed, Fetching, no, Bringing, Over},
	SavingSupposed:  {SavingRunning, no, SavingPlaced, no, no, HandingSupposed, Supposed, Fetching, no, Bringing, Over},
	SavingRunning:   {SavingRunning, no, SavingPlaced, no, no, HandingRunning, Running, Fetching, no, Bringing, Over},
	HandingPlaced:   {HandingRunning, no, HandingPlaced, no, no, HandingPlaced, Placed, Fetching, no, Bringing, Over},
	HandingSupposed: {HandingRunning, no, HandingPlaced, no, no, HandingSupposed, Supposed, Fetching, no, Bringing, Over},
	HandingRunning:  {HandingRunning, no, HandingPlaced, no, no, HandingRunning, Running, Fetching, no, Bringing, Over},
	Awaiting:        {Running, no, Awaiting, Returning, no, no, no, no, no, no, Over},
	Returning:       {Running, no, Returning, no, no, no, no, no, no, no, Over},
	Fetching:        {Fetching, no, no, no, no, Fetching, Fetching, no, Stalled, no, Over},
	Stalled:         {Stalled, no, no, no, no, Stalled, Stalled, Fetching, no, no, Over},
	Bringing:        {Bringing, no, no, no, no, Bringing, Bringing, no, no, no, Over},
	Over:            {no, no, no, no, no, no, no, no, no, no, no},
}

func TestEveryTransition(t *testing.T) {
	for s := range States {
		want, ok := afterwards[s]
		if !ok {
			t.Fatalf("nothing is said of %v", s)
		}
		for e := range Events {
			if got := s.Next(e); got != want[e] {
				t.Errorf("event %d takes %v to %v, want %v", e, s, got, want[e])
			}
		}
	}
}

// What holds of states follows from a few rules, written here once more.
func TestTraits(t *testing.T) {
	in := func(states ...State) (set map[State]bool) {
		set = map[State]bool{}
		for _, s := range states {
			set[s] = true
		}
		return set
	}
	for name, tt := range map[string]struct {
		trait Trait
		holds map[State]bool
	}{
		"nothing more comes of a lease that is over": {^Trait(0), in()},
		"a worker that is asked nothing":             {Settled, in(Placed, Supposed, Running)},
		"only what did not start comes back":         {Recallable, in(Placed)},
		"what runs and need not move":                {Spreads, in(Supposed, Running)},
		"patience is with what stays":                {Timed, in(Placed, Supposed, Running, Recalled)},
		"an answer to a recall":                      {AskedBack, in(Recalled, Returning)},
		"on its way from a worker that is lost":      {Awaits, in(Awaiting, Returning)},
		"hand-overs": {HandsOver | Moves,
			in(HandingPlaced, HandingSupposed, HandingRunning)},
		"moves of both kinds": {Moves,
			in(SavingPlaced, SavingSupposed, SavingRunning, HandingPlaced, HandingSupposed, HandingRunning)},
		"what another may replace did not start": {Replaceable,
			in(Placed, Recalled, SavingPlaced, HandingPlaced, Awaiting, Returning)},
		"what was heard from the leader before alone": {Hearsay, in(Supposed, SavingSupposed, HandingSupposed)},
	} {
		for s := range States {
			if s.Is(tt.trait) != tt.holds[s] {
				t.Errorf("%s: %v has it: %v", name, s, s.Is(tt.trait))
			}
		}
	}
	for s := range States {
		ended := s == Fetching || s == Stalled || s == Bringing
		is := s != Refused && s != Over
		switch {
		case s.Is(Open) != (is && !ended):
			t.Errorf("%v is open: %v", s, s.Is(Open))
		case s.Is(Expires) != (s.Is(Open) || s == Stalled):
			t.Errorf("%v expires: %v", s, s.Is(Expires))
		case s.Is(Runs) == s.Is(Replaceable) && s.Is(Open):
			t.Errorf("%v runs, and may be replaced: %v", s, s.Is(Runs))
		case s.Is(Hearsay) && !s.Is(Runs), s.Is(Runs) && !s.Is(Open):
			t.Errorf("%v: what is known to run is open", s)
		}
	}
}

// Whatever happens to a lease, it can end once, and nothing happens to it after that. What is
// over in one way does not begin again, and a state has a name of its own.
func TestLives(t *testing.T) {
	seen := map[string]State{}
	for s := range States {
		if other, twice := seen[s.String()]; twice || s.String() == "" {
			t.Errorf("states %d and %d are both %q", other, s, s)
		}
		seen[s.String()] = s
		if s == Refused || s == Over {
			continue
		}
		if s.Next(Ends) != Over {
			t.Errorf("what is %v cannot end", s)
		}
		for e := range Events {
			next := s.Next(e)
			if !s.Is(Open) && next.Is(Open) {
				t.Errorf("event %d takes %v back to %v", e, s, next)
			}
			if next.Is(Hearsay) && !s.Is(Hearsay) && e != Supposes {
				t.Errorf("event %d makes hearsay of %v", e, s)
			}
		}
	}
}
