package leasing

// An Event is what happens to a lease.
type Event uint8

const (
	Starts   Event = iota // its worker says that the guest runs
	Supposes              // the leader before said so
	Unstarts              // the guest turns out never to have run there
	AsksBack              // its worker is asked to give it back
	Saves                 // its worker is told to stop the guest with its state
	Hands                 // its worker is told to hand the guest over, or is found to do that
	Stays                 // the order to move it is off
	Fetches               // its result is here, and the outputs are to be fetched
	Stalls                // they could not be had
	Brings                // its result is here, and the guest's state is still being fetched
	Ends                  // it is taken off the books
	Events                // how many there are
)

// next is the state that an event leads to, by the event and by the state before;
// Refused where the event must not happen.
var next = [Events][States]State{
	Starts: {
		Placed: Running, Supposed: Running, Running: Running,
		Recalled:     Running, // the recall came too late
		SavingPlaced: SavingRunning, SavingSupposed: SavingRunning, SavingRunning: SavingRunning,
		HandingPlaced: HandingRunning, HandingSupposed: HandingRunning, HandingRunning: HandingRunning,
		Awaiting: Running, Returning: Running,
		Fetching: Fetching, Stalled: Stalled, Bringing: Bringing, // said before the end, and heard after it
	},
	Supposes: {Placed: Supposed},
	Unstarts: {
		Placed: Placed, Supposed: Placed, Running: Placed, Recalled: Recalled,
		SavingPlaced: SavingPlaced, SavingSupposed: SavingPlaced, SavingRunning: SavingPlaced,
		HandingPlaced: HandingPlaced, HandingSupposed: HandingPlaced, HandingRunning: HandingPlaced,
		Awaiting: Awaiting, Returning: Returning,
	},
	AsksBack: {Placed: Recalled, Awaiting: Returning},
	Saves:    {Placed: SavingPlaced, Supposed: SavingSupposed, Running: SavingRunning},
	Hands: {
		Placed: HandingPlaced, Supposed: HandingSupposed, Running: HandingRunning,
		Recalled:     HandingPlaced, // by order of the leader before, ahead of the recall
		SavingPlaced: HandingPlaced, SavingSupposed: HandingSupposed, SavingRunning: HandingRunning,
		HandingPlaced: HandingPlaced, HandingSupposed: HandingSupposed, HandingRunning: HandingRunning, // elsewhere
		Fetching: Fetching, Stalled: Stalled, Bringing: Bringing, // done before the end, and heard of after it
	},
	Stays: {
		SavingPlaced: Placed, SavingSupposed: Supposed, SavingRunning: Running,
		HandingPlaced: Placed, HandingSupposed: Supposed, HandingRunning: Running,
		Fetching: Fetching, Stalled: Stalled, Bringing: Bringing, // what is left of the order goes
	},
	Fetches: {
		Placed: Fetching, Supposed: Fetching, Running: Fetching, Recalled: Fetching,
		SavingPlaced: Fetching, SavingSupposed: Fetching, SavingRunning: Fetching,
		HandingPlaced: Fetching, HandingSupposed: Fetching, HandingRunning: Fetching,
		Stalled: Fetching,
	},
	Stalls: {Fetching: Stalled},
	Brings: {
		Placed: Bringing, Supposed: Bringing, Running: Bringing, Recalled: Bringing,
		SavingPlaced: Bringing, SavingSupposed: Bringing, SavingRunning: Bringing,
		HandingPlaced: Bringing, HandingSupposed: Bringing, HandingRunning: Bringing,
	},
	Ends: {
		Placed: Over, Supposed: Over, Running: Over, Recalled: Over,
		SavingPlaced: Over, SavingSupposed: Over, SavingRunning: Over,
		HandingPlaced: Over, HandingSupposed: Over, HandingRunning: Over,
		Awaiting: Over, Returning: Over, Fetching: Over, Stalled: Over, Bringing: Over,
	},
}

// Next returns the state that an event leads to, Refused if it must not happen.
func (s State) Next(e Event) State { return next[e][s] }
