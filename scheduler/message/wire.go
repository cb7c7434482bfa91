package message

import (
	"errors"
	"fmt"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/task"
)

// Bounds of what travels.
const (
	// MaxFrame bounds an encoded frame, in bytes. It leaves room for the
	// largest job record and for the largest result, and, of the 4 MiB that the
	// network takes, for the driver to say which overlay it is of.
	MaxFrame = 4<<20 - 128
	// MaxMessages bounds the messages of a frame.
	MaxMessages = 1 << 14
	// MaxProgress bounds the results of a Progress.
	MaxProgress = 256
	// MaxEndings bounds the results of a Report.
	MaxEndings = 256
	// MaxSaved bounds the checkpoints of a Report: one for each slot that a
	// member may have.
	MaxSaved = overlay.MaxSlots
	// MaxHolders bounds the holders named for a job.
	MaxHolders = 8
	// MaxLacking bounds the ranges of Got.Lacking: as many results may be on
	// their way to a submitter, with room for those that stay away.
	MaxLacking = 1024
	// MaxRejected bounds the ranges of Got.Rejected.
	MaxRejected = 1024
	// MaxRefused bounds the workers that a submitter refuses. Beyond them are results that it finds
	// wrong again.
	MaxRefused = 64
	// MaxAgain bounds the tasks of a job that may be run once more at a time: enough for members that
	// are idle, and 100 KB at most.
	MaxAgain = 128
	// MaxBarred bounds the workers that are named with each.
	MaxBarred = 16

	// BatchBytes is where a batch of results ends that has not reached its
	// number: frames of this size keep a stream busy and no outbox full.
	BatchBytes = 1 << 20
	// maxGrowth is how many times its bytes a frame may take in memory when it is decoded,
	// beside MaxMessages messages of a few bytes, which take smallMessage each. What machines
	// send has names and numbers in it, and takes at most four times.
	maxGrowth    = 6
	smallMessage = 160
	// arrayHead is the most bytes that the head of a frame's array takes.
	arrayHead = 5
)

// ErrFrame is wrapped by the errors of DecodeFrame and EncodeFrame.
var ErrFrame = errors.New("scheduler: bad frame")

// DecodeFrame reads a frame that arrived. Bytes beyond MaxFrame are not looked
// at, and a frame with anything beyond its bounds is refused whole. Signatures
// are left to the machines. The messages share no memory with b.
func DecodeFrame(b []byte) ([]Message, error) {
	if len(b) > MaxFrame {
		return nil, fmt.Errorf("%w: %d bytes, the most is %d", ErrFrame, len(b), MaxFrame)
	}
	var messages []Message
	if err := task.DecodeWithin(b, &messages, maxGrowth, MaxMessages*smallMessage); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	if len(messages) > MaxMessages {
		return nil, fmt.Errorf("%w: %d messages, the most is %d", ErrFrame, len(messages), MaxMessages)
	}
	for i := range messages {
		if err := messages[i].check(); err != nil {
			return nil, fmt.Errorf("%w: message %d: %w", ErrFrame, i, err)
		}
		messages[i].printTexts()
	}
	return messages, nil
}

// check keeps the bounds that the machines rely on.
func (m *Message) check() error {
	set := 0
	for _, is := range []bool{
		m.Submit != nil, m.Accepted != nil, m.Progress != nil, m.Got != nil,
		m.Cancel != nil, m.Place != nil, m.Report != nil, m.Ack != nil,
		m.Known != nil, m.Wanted != nil, m.Copy != nil, m.Copied != nil,
		m.Retired != nil, m.Kept != nil, m.Wrong != nil, m.Made != nil,
	} {
		if is {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("%d kinds at once, want 1", set)
	}
	switch {
	case m.Progress != nil && len(m.Progress.Tasks) > MaxProgress:
		return fmt.Errorf("progress of %d tasks, the most is %d", len(m.Progress.Tasks), MaxProgress)
	case m.Progress != nil && len(m.Progress.Unknown) > MaxLacking:
		return fmt.Errorf("%d ranges of results unknown, the most is %d", len(m.Progress.Unknown), MaxLacking)
	case m.Progress != nil && len(m.Progress.Runs) > MaxRuns:
		return fmt.Errorf("%d ranges of tasks that run, the most is %d", len(m.Progress.Runs), MaxRuns)
	case m.Got != nil && len(m.Got.Lacking) > MaxLacking:
		return fmt.Errorf("%d ranges of results lacking, the most is %d", len(m.Got.Lacking), MaxLacking)
	case m.Got != nil && len(m.Got.Rejected) > MaxRejected:
		return fmt.Errorf("%d ranges of rejected results, the most is %d", len(m.Got.Rejected), MaxRejected)
	case m.Got != nil && len(m.Got.Refused) > MaxRefused, m.Submit != nil && len(m.Submit.Refused) > MaxRefused:
		return fmt.Errorf("more workers refused than %d", MaxRefused)
	case m.Got != nil:
		return checkAgain(m.Got.Again)
	case m.Submit != nil:
		return checkAgain(m.Submit.Again)
	case m.Report != nil:
		return m.Report.check()
	case m.Place != nil:
		return m.Place.check()
	case m.Ack != nil:
		return m.Ack.check()
	case m.Known != nil:
		return m.Known.check()
	case m.Wanted != nil:
		return m.Wanted.check()
	case m.Copy != nil:
		return m.Copy.check()
	case m.Copied != nil:
		return m.Copied.check()
	case m.Retired != nil:
		return m.Retired.check()
	case m.Kept != nil:
		return m.Kept.check()
	case m.Made != nil:
		return m.Made.check()
	}
	return nil
}

// checkAgain keeps the bounds of a list of them.
func checkAgain(list []Again) error {
	if len(list) > MaxAgain {
		return fmt.Errorf("%d tasks to be run once more, the most is %d", len(list), MaxAgain)
	}
	for i := range list {
		if n := max(len(list[i].Not), len(list[i].Only)); n > MaxBarred {
			return fmt.Errorf("%d workers named for a task, the most is %d", n, MaxBarred)
		}
	}
	return nil
}

func (r *Report) check() error {
	switch {
	case len(r.Ended) > MaxEndings:
		return fmt.Errorf("report of %d results, the most is %d", len(r.Ended), MaxEndings)
	case len(r.Saved) > MaxSaved:
		return fmt.Errorf("report of %d checkpoints, the most is %d", len(r.Saved), MaxSaved)
	case r.Slots < 0 || r.Slots > overlay.MaxSlots:
		return fmt.Errorf("report of %d slots, want 0 to %d", r.Slots, overlay.MaxSlots)
	case r.Withheld < 0 || r.Withheld > 100:
		return fmt.Errorf("report of %d %% of the CPU withheld, want 0 to 100", r.Withheld)
	}
	return r.checkMoves()
}

// ResultBytes estimates the encoded size of a result, a little high.
func ResultBytes(r *task.Result) int { return ledger.ResultBytes(r) }

// Window is how many results may be on their way to a submitter, so that one
// slow fetch does not hold up the rest.
const Window = 4 * MaxProgress
