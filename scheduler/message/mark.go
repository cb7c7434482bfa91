package message

import "crypto/sha256"

// A Mark is a boundary that a run came to, as its worker tells its leader: replicas of a task that
// are right come to the same.
type Mark struct {
	Fuel  uint64            `cbor:"1,keyasint"`
	State [sha256.Size]byte `cbor:"2,keyasint"` // a task.Boundary's
}

// MaxMarks bounds the marks told with one checkpoint: the latest. One takes about fifty bytes.
const MaxMarks = 8

// AddMarks adds marks to those that are known, of which the last MaxMarks are kept.
func AddMarks(known, more []Mark) []Mark {
	all := append(known[:len(known):len(known)], more...)
	return all[max(0, len(all)-MaxMarks):]
}
