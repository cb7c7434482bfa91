package leasing

// A State is where a lease is in its life: what is known of its guest, and what the
// coordinator has asked of its worker. A lease begins as Placed, as Awaiting or, where a
// result is the first that is heard of it, as Fetching.
type State uint8

const (
	Refused State = iota // no state: what Next returns for an event that must not happen

	// The worker is asked nothing, or only whether the guest has started.
	Placed   // the worker has not said that it runs
	Supposed // it ran as far as the leader before knew, and the worker has not said so since
	Running  // the worker has said so
	Recalled // the worker is asked to give it back unless it runs

	SavingPlaced   // Placed, and the worker is to stop the guest with its state
	SavingSupposed // Supposed, likewise
	SavingRunning  // Running, likewise

	HandingPlaced   // Placed, and the worker is to hand the guest over while it runs
	HandingSupposed // Supposed, likewise
	HandingRunning  // Running, likewise

	// Awaiting: the worker that handed it over is lost, this one waits for what was on its
	// way, and nothing is known to run.
	Awaiting
	Returning // the same, and the worker is asked for what came of it

	// The run is over, with a result that does not count yet.
	Fetching // its outputs are being fetched
	Stalled  // that failed: the worker will report the result again
	Bringing // it was stopped, and its state is being fetched

	Over   // it is off the books
	States // how many there are
)

var names = [States]string{
	"refused", "placed", "supposed", "running", "recalled", "saving placed", "saving supposed", "saving running",
	"handing placed", "handing supposed", "handing running",
	"awaiting", "returning", "fetching", "stalled", "bringing", "over",
}

// String returns the state's name in lower case.
func (s State) String() string { return names[s] }

// A Trait is something that holds of a lease in some states. Traits are added with |.
type Trait uint16

const (
	Runs        Trait = 1 << iota // its guest runs, as far as is known
	Open                          // its run is not over: it uses a slot, or waits for one
	Expires                       // it ends if its worker is not heard of
	Settled                       // its worker is asked nothing: it may be told to move
	Recallable                    // its worker may be asked to give it back unrun
	Spreads                       // it runs, or stands still, where it is: the rule of tails may move or copy it
	Timed                         // it may take too long for a policy that has patience
	Moves                         // its worker has to carry out an order to move in time
	HandsOver                     // that order is to hand the guest over
	Awaits                        // its worker waits for the guest
	AskedBack                     // its worker has to answer whether it gives the lease back
	Replaceable                   // an attempt that runs already may take its place
	Hearsay                       // that it runs is the word of the leader before alone
)

// traits says what holds in each state.
var traits = [States]Trait{
	Placed:          Open | Expires | Settled | Recallable | Timed | Replaceable,
	Supposed:        Open | Expires | Settled | Runs | Spreads | Timed | Hearsay,
	Running:         Open | Expires | Settled | Runs | Spreads | Timed,
	Recalled:        Open | Expires | Timed | AskedBack | Replaceable,
	SavingPlaced:    Open | Expires | Moves | Replaceable,
	SavingSupposed:  Open | Expires | Moves | Runs | Hearsay,
	SavingRunning:   Open | Expires | Moves | Runs,
	HandingPlaced:   Open | Expires | Moves | HandsOver | Replaceable,
	HandingSupposed: Open | Expires | Moves | HandsOver | Runs | Hearsay,
	HandingRunning:  Open | Expires | Moves | HandsOver | Runs,
	Awaiting:        Open | Expires | Awaits | Replaceable,
	Returning:       Open | Expires | Awaits | AskedBack | Replaceable,
	Fetching:        0,
	Stalled:         Expires,
	Bringing:        0,
}

// Is reports whether all of the given traits hold in the state.
func (s State) Is(t Trait) bool { return traits[s]&t == t }
