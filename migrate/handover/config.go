package handover

import "time"

// A Config holds the bounds of a hand-over. Its zero value is of no use: begin
// with Default.
type Config struct {
	// Small is when to freeze: when what would have to be sent then is estimated
	// to take no longer. The guest stands still for it, and for the round trip,
	// the last checkpoint and the thaw besides, which are as much again: 50 ms
	// keep the whole below the tenth of a second that a person notices, and
	// less would not show beside them.
	Small time.Duration
	// Shrink is what share of the last round the next may have, at the pace at
	// which the guest dirties its memory, so that it is left to run as fast as it
	// can: at a half all rounds together take at most twice as long as the first.
	Shrink float64
	// SlowTo is that share for a guest that is slowed, since it dirties its memory
	// faster. By being slowed a guest loses at most what it would lose by standing
	// still for the second round: all of it at 0, (r-SlowTo)/(r(1-SlowTo)) of it
	// for one that dirties r <= 1 times what the network carries, which is 0.96 at
	// a quarter and an r of 0.9. A half would be 0.89, and the hand-over take a
	// quarter longer and carry as much more.
	SlowTo float64
	// Slowest is the least share of the time that a slowed guest runs. What does
	// not shrink then, does not shrink before it stands still.
	Slowest float64
	// Pays is what share of what is left another round may leave, so that it is
	// begun: below some size the round trip, the checkpoint and the manifest take
	// as long as the pages, and the guest dirties as many meanwhile.
	Pays float64
	// Most is how often the state may travel in rounds, in bytes, before the last.
	// One that is dirtied r times as fast as the network carries takes 1/(1-r) up
	// to Shrink, 1 + r/(1-SlowTo) up to 1, and 3 at 3. A guest that rewrites all of
	// its memory in any time, however slow, is frozen after three rounds.
	Most float64
	// Rounds is how many rounds there are at most before the freeze. After sixteen
	// that shrink by Shrink a state that takes an hour takes Small.
	Rounds int
	// Tells is how long a round must take to tell how fast the network is: in
	// shorter ones the round trips count for too much.
	Tells time.Duration

	// DialFirst is the pause before the second try to open, doubled for each
	// further one up to DialPause: a stream that comes before the leader's offer
	// waits there for OfferWait, so that few tries are needed.
	DialFirst, DialPause time.Duration
	// DialTime bounds all tries together, until Welcome.
	DialTime time.Duration
	// SaveTime bounds a checkpoint, and a freeze, in which no block leaves: 4 GiB
	// written to a slow disk.
	SaveTime time.Duration
	// StallTime is how long nothing may move while something is being sent.
	StallTime time.Duration
	// AnswerTime bounds the answer to a Round when no bytes are under way any
	// more: the destination may still be compiling.
	AnswerTime time.Duration
	// ConfirmTime is how long after a Final, or after the last sign that its
	// bytes still come there, Resumed may take. Then the source gives up for good.
	ConfirmTime time.Duration
	// Total bounds a whole hand-over, at both sides: 4 GiB at 20 Mbit/s.
	Total time.Duration

	// OfferWait is how long a stream waits at the destination for the leader's
	// offer, which is on its way by another path.
	OfferWait time.Duration
	// OpenWait is how long the offer waits for its stream. It exceeds DialTime,
	// since the source may hear of the move a report later than the destination.
	OpenWait time.Duration
	// SilenceTime is how long a source may say nothing: longer than it may take
	// to make a checkpoint.
	SilenceTime time.Duration
	// PlaceTime bounds the loading of a stage, compiling included, and the thaw.
	// It is below AnswerTime and ConfirmTime, so that its reason is heard.
	PlaceTime time.Duration
	// TakingEvery is the time between two Taking frames while blocks come: a
	// fraction of StallTime.
	TakingEvery time.Duration
}

// Default returns the bounds that the swarm uses. The durations are choices,
// not measurements: each is long beside what an honest, loaded machine takes,
// and short beside what a task loses by its end.
func Default() Config {
	return Config{
		Small: 50 * time.Millisecond, Shrink: 0.5, SlowTo: 0.25, Slowest: 0.05, Pays: 0.75, Most: 3, Rounds: 16,
		Tells:     time.Second,
		DialFirst: 250 * time.Millisecond, DialPause: 2 * time.Second, DialTime: 20 * time.Second,
		SaveTime: 30 * time.Second, StallTime: 15 * time.Second, AnswerTime: 60 * time.Second,
		ConfirmTime: 60 * time.Second, Total: 30 * time.Minute,
		OfferWait: 5 * time.Second, OpenWait: 30 * time.Second, SilenceTime: 75 * time.Second,
		PlaceTime: 45 * time.Second, TakingEvery: time.Second,
	}
}
