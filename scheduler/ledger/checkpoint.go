package ledger

import (
	"cmp"
	"time"

	"godwit/task"
)

// A Checkpoint is the frozen state of a task: what another worker needs to go
// on where it stopped.
type Checkpoint struct {
	CID task.CID `cbor:"1,keyasint"` // root of its blocks
	// Fuel is the work done when it was taken, in the task's own units, which
	// are the same on every machine. It is larger than 0.
	Fuel uint64        `cbor:"2,keyasint"`
	CPU  time.Duration `cbor:"3,keyasint"` // that the attempt had used; of all attempts before it too
}

// Valid says whether a checkpoint that arrived can be one.
func (c *Checkpoint) Valid() bool { return c.Fuel > 0 && c.CPU >= 0 && c.CID.Valid() }

// Save takes in a checkpoint. The one of more work done is kept, so that
// copies of a row agree in whatever order they hear. It says whether the row
// changed. The row keeps c.
func (r *Row) Save(c *Checkpoint) bool {
	if c == nil || r.Best != nil && compareCheckpoints(c, r.Best) <= 0 {
		return false
	}
	r.Best = c
	return true
}

func compareCheckpoints(a, b *Checkpoint) int {
	return cmp.Or(cmp.Compare(a.Fuel, b.Fuel), cmp.Compare(b.CID, a.CID), cmp.Compare(b.CPU, a.CPU))
}
