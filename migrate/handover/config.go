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
	// Shrink is what share of the round before a round may at most have, in
	// bytes, so that another is worth it. At three quarters all rounds together
	// send at most four times the state; what is dirtied faster than it is sent
	// never shrinks.
	Shrink float64
	// Rounds is how many rounds there are at most before the freeze. After eight
	// that shrink by Shrink a tenth of the state is left; quicker ones are small
	// long before.
	Rounds int

	// DialFirst is the pause before the second try to open, doubled for each
	// further one up to DialPause: a stream that comes before the leader's offer
	// waits there for OfferWait, so that few tries are needed.
	DialFirst, DialPause time.Duration
	// DialTime bounds all tries together, until Welcome.
	DialTime time.Duration
	// SaveTime bounds a checkpoint, and a freeze: 4 GiB written to a slow disk.
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
		Small: 50 * time.Millisecond, Shrink: 0.75, Rounds: 8,
		DialFirst: 250 * time.Millisecond, DialPause: 2 * time.Second, DialTime: 20 * time.Second,
		SaveTime: 30 * time.Second, StallTime: 15 * time.Second, AnswerTime: 60 * time.Second,
		ConfirmTime: 60 * time.Second, Total: 30 * time.Minute,
		OfferWait: 5 * time.Second, OpenWait: 30 * time.Second, SilenceTime: 75 * time.Second,
		PlaceTime: 45 * time.Second, TakingEvery: time.Second,
	}
}
