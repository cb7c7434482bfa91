package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"slices"

	"godwit/task"
)

// Digest returns a hash of what the copy knows: the jobs, their facts, and of
// each task that is not delivered the results, failures, best checkpoint, bad states and
// voided results. Two copies that know the same have the same. What is told for
// people only (the log, costs), rows that delivery has made idle and that the
// deadline passed do not matter: copies drop, and find, them at different times.
func (l *Ledger) Digest() [32]byte {
	h := sha256.New()
	for _, id := range sortedKeys(l.Jobs) {
		d := l.Jobs[id].Digest()
		writeString(h, string(id))
		h.Write(d[:])
	}
	return [32]byte(h.Sum(nil))
}

// Digest returns the job's part of Ledger.Digest. Results stand in it by their
// signatures, which cover all else, so that it costs little with many.
func (j *Job) Digest() [32]byte {
	h := sha256.New()
	f := &j.Facts
	writeNumbers(h, f.wish(), f.Delivery, flag(len(f.Signed) > 0))
	for _, set := range []Set{f.Done, f.Failed.Minus(f.Done)} {
		writeNumbers(h, uint64(len(set)))
		for _, r := range set {
			writeNumbers(h, r.From, r.To)
		}
	}
	for _, i := range sortedKeys(j.Rows) {
		if row := j.Rows[i]; !j.Delivered(i) && !row.bare() {
			writeNumbers(h, i)
			row.digest(h)
		}
	}
	return [32]byte(h.Sum(nil))
}

// wish is what the submitter wants of the job: 0 all of it, 1 no more, 2 no more begun.
func (f *Facts) wish() uint64 {
	switch {
	case f.Cancelled():
		return 1
	case f.IsEnding():
		return 2
	}
	return 0
}

// bare says whether there is nothing in the row but its log.
func (r *Row) bare() bool {
	return len(r.Results) == 0 && len(r.Failures) == 0 && r.Best == nil && len(r.Voided) == 0 && len(r.Bad) == 0 &&
		len(r.Lines) == 0
}

func (r *Row) digest(h hash.Hash) {
	writeNumbers(h, uint64(len(r.Results)), uint64(len(r.Failures)), uint64(len(r.Voided)), flag(r.Best != nil))
	for i := range r.Results {
		writeResult(h, &r.Results[i])
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		writeNumbers(h, f.Attempt.Epoch, f.Attempt.Seq)
		writeResult(h, &f.Result)
	}
	for i := range r.Voided {
		writeString(h, string(r.Voided[i].Worker))
		h.Write(r.Voided[i].Signature[:])
	}
	writeNumbers(h, uint64(len(r.Bad)), r.Round)
	for i := range r.Bad {
		writeString(h, string(r.Bad[i].Receipt.From))
		writeString(h, string(r.Bad[i].Signature))
	}
	if b := r.Best; b != nil {
		writeCheckpoint(h, b)
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		writeString(h, string(l.Root))
		writeNumbers(h, l.Round, flag(l.Best != nil))
		if l.Best != nil {
			writeCheckpoint(h, l.Best)
		}
	}
}

func writeCheckpoint(h hash.Hash, c *Checkpoint) {
	writeString(h, string(c.CID))
	writeNumbers(h, c.Fuel, uint64(c.CPU))
	writeString(h, string(c.signature()))
}

func writeResult(h hash.Hash, r *task.Result) {
	writeString(h, string(r.Worker))
	writeString(h, string(r.Mark()))
}

// writeString writes a string and, before it, its length, so that two strings
// are told from two others of the same letters.
func writeString(h hash.Hash, s string) {
	writeNumbers(h, uint64(len(s)))
	io.WriteString(h, s) // a hash takes everything
}

func writeNumbers(h hash.Hash, ns ...uint64) {
	var b [4 * 8]byte
	out := b[:0]
	for _, n := range ns {
		out = binary.BigEndian.AppendUint64(out, n)
	}
	h.Write(out)
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Compact forgets the rows of the tasks whose end the submitter holds, and
// returns their indices, sorted.
func (j *Job) Compact() []uint64 {
	var gone []uint64
	for i := range j.Rows {
		if j.Delivered(i) {
			gone = append(gone, i)
		}
	}
	for _, i := range gone {
		delete(j.Rows, i)
	}
	slices.Sort(gone)
	return gone
}
