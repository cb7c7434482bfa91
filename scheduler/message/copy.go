package message

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// Bounds of what coordinators say to each other.
const (
	// MaxKnown bounds the jobs of a Known and of a Wanted: with names of 59
	// characters and digests a message of 4,096 has a third of a megabyte.
	MaxKnown = 4096
	// MaxPairs bounds the pairs of a message, and each of its other lists.
	MaxPairs = 1 << 14
	// MaxHoldCIDs bounds the blocks of one Hold: a record, a module and every
	// input that a job may name.
	MaxHoldCIDs = 1 << 14
	// MaxKey is the longest key of a pair: a prefix, a job and an index.
	MaxKey = 128
	// MaxLive bounds the leases told of one task: replicas, and then some.
	MaxLive = 256
)

// Known begins a session: a replica that follows a leader says what it knows, so
// that the leader learns what it lacks and what the replica lacks. A replica
// that knows nothing says so. One Known is under way at a time; it is repeated
// until a Wanted of the same Seq answers it.
type Known struct {
	Epoch   uint64      `cbor:"1,keyasint"`              // the leader's, as the replica knows it
	Session uint64      `cbor:"2,keyasint"`              // another for each beginning; not 0
	Seq     uint64      `cbor:"3,keyasint"`              // 1, 2, ...
	Jobs    []JobDigest `cbor:"4,keyasint" most:"4096"`  // all that it has, over the session; at most MaxKnown a message
	Pairs   []Pair      `cbor:"5,keyasint" most:"16384"` // of the jobs that the last Wanted named
	Last    bool        `cbor:"6,keyasint"`              // nothing follows
	Runs    bool        `cbor:"7,keyasint,omitempty"`    // it reads Copy.Runs
}

// A JobDigest is a job and the beginning of its canonical digest.
type JobDigest struct {
	Job    task.JobID      `cbor:"1,keyasint"`
	Digest [DigestLen]byte `cbor:"2,keyasint"`
}

// DigestLen is how much of a digest is compared: two copies of one job by two
// honest coordinators, not a signature against forgers.
const DigestLen = 16

// A Pair is one durable pair of a ledger, by the keys of package ledger.
type Pair struct {
	Key   string `cbor:"1,keyasint"`
	Value []byte `cbor:"2,keyasint"`
}

// Wanted answers a Known. With Session 0 it asks for a session to begin.
type Wanted struct {
	Epoch   uint64       `cbor:"1,keyasint"`
	Session uint64       `cbor:"2,keyasint"`
	Seq     uint64       `cbor:"3,keyasint"`             // of the Known that it answers
	Jobs    []task.JobID `cbor:"4,keyasint" most:"4096"` // to be told, before more digests; at most MaxKnown
	// Done answers the last: what the replica knows, the leader has durably.
	Done bool `cbor:"5,keyasint"`
	// Follow says, with Done, that the replica is of the group and gets copies
	// from now on. Without it, it forgets what it has.
	Follow bool `cbor:"6,keyasint"`
}

// Copy brings a follower what changed in the leader's ledger. Copies of a
// session are numbered and taken in order.
type Copy struct {
	Epoch   uint64 `cbor:"1,keyasint"`
	Session uint64 `cbor:"2,keyasint"`              // the replica's
	Seq     uint64 `cbor:"3,keyasint"`              // 1, 2, ...
	Pairs   []Pair `cbor:"4,keyasint" most:"16384"` // to be merged, a job's record first
	// Gone are jobs that the leader has forgotten, to be forgotten.
	Gone []task.JobID `cbor:"5,keyasint" most:"16384"`
	// Live says who runs what: soft, to be kept in memory only.
	Live []LiveLeases `cbor:"6,keyasint" most:"16384"`
	// Hold are blocks that the first follower is to fetch and keep.
	Hold []Hold `cbor:"7,keyasint" most:"16384"`
	// Runs are rows of the ledger beside Pairs, after them, for a replica that reads them (Known.Runs),
	// and Names what stands in them.
	Runs  []RowRun `cbor:"8,keyasint,omitempty" most:"16384"`
	Names [][]byte `cbor:"9,keyasint,omitempty" most:"1024"`
}

// LiveLeases are all leases of one task that are live. With none, it has none
// any more.
type LiveLeases struct {
	Task   task.TaskID `cbor:"1,keyasint"`
	Leases []LiveLease `cbor:"2,keyasint" most:"256"`
}

// A LiveLease is a lease that was given and has not ended.
type LiveLease struct {
	Worker  task.PeerID `cbor:"1,keyasint"`
	Attempt Attempt     `cbor:"2,keyasint"`
	Start   task.Time   `cbor:"3,keyasint"`
	// To and As say that it is being handed over, to whom and as which attempt;
	// empty if it is not.
	To task.PeerID `cbor:"4,keyasint,omitempty"`
	As Attempt     `cbor:"5,keyasint,omitzero"`
}

// A HoldKind says which blocks a Hold is about.
type HoldKind uint8

// The kinds of blocks held for a job.
const (
	HoldJob     HoldKind = 1 + iota // record, module and inputs; the task's index is 0
	HoldOutputs                     // the outputs of a task's agreed result
	HoldState                       // a task's newest checkpoint
	maxHoldKind = HoldState
)

// A HoldName names blocks to be held.
type HoldName struct {
	Task task.TaskID `cbor:"1,keyasint"`
	Kind HoldKind    `cbor:"2,keyasint"`
}

// A Hold asks for blocks to be fetched and held.
type Hold struct {
	Name    HoldName      `cbor:"1,keyasint"`
	CIDs    []task.CID    `cbor:"2,keyasint" most:"16384"` // at most MaxHoldCIDs
	Holders []task.PeerID `cbor:"3,keyasint" most:"8"`     // at most MaxHolders
}

// HeldBlocks answers a Hold. Err says why they could not be had, or is empty.
type HeldBlocks struct {
	Name HoldName `cbor:"1,keyasint"`
	Err  string   `cbor:"2,keyasint,omitempty"`
}

// Copied says up to which Seq copies are durable at the follower.
type Copied struct {
	Epoch   uint64 `cbor:"1,keyasint"`
	Session uint64 `cbor:"2,keyasint"`
	Seq     uint64 `cbor:"3,keyasint"`
	// Gap says that a later Copy came: those between are lost.
	Gap  bool         `cbor:"4,keyasint,omitempty"`
	Held []HeldBlocks `cbor:"5,keyasint,omitempty" most:"16384"`
}

func (k *Known) check() error {
	switch {
	case k.Session == 0:
		return fmt.Errorf("known without a session")
	case len(k.Jobs) > MaxKnown || len(k.Pairs) > MaxPairs:
		return fmt.Errorf("known of %d jobs and %d pairs, the most is %d and %d", len(k.Jobs), len(k.Pairs), MaxKnown,
			MaxPairs)
	}
	return checkPairs(k.Pairs)
}

func (w *Wanted) check() error {
	if len(w.Jobs) > MaxKnown {
		return fmt.Errorf("wanted of %d jobs, the most is %d", len(w.Jobs), MaxKnown)
	}
	return nil
}

func (c *Copy) check() error {
	if n := max(len(c.Pairs), len(c.Gone), len(c.Live), len(c.Hold)); n > MaxPairs {
		return fmt.Errorf("copy with a list of %d, the most is %d", n, MaxPairs)
	}
	for i := range c.Live {
		if n := len(c.Live[i].Leases); n > MaxLive {
			return fmt.Errorf("copy of %d leases of a task, the most is %d", n, MaxLive)
		}
	}
	for i := range c.Hold {
		h := &c.Hold[i]
		if len(h.CIDs) > MaxHoldCIDs || len(h.Holders) > MaxHolders || !h.Name.valid() {
			return fmt.Errorf("hold of kind %d, %d blocks and %d holders", h.Name.Kind, len(h.CIDs), len(h.Holders))
		}
	}
	if err := checkRuns(c.Runs, c.Names); err != nil {
		return err
	}
	return checkPairs(c.Pairs)
}

func (c *Copied) check() error {
	if len(c.Held) > MaxPairs {
		return fmt.Errorf("copied of %d held, the most is %d", len(c.Held), MaxPairs)
	}
	for i := range c.Held {
		if !c.Held[i].Name.valid() || len(c.Held[i].Err) > task.MaxMessage {
			return fmt.Errorf("copied of a hold of kind %d and an error of %d bytes", c.Held[i].Name.Kind, len(c.Held[i].Err))
		}
	}
	return nil
}

func (n HoldName) valid() bool { return n.Kind >= HoldJob && n.Kind <= maxHoldKind }

func checkPairs(pairs []Pair) error {
	for i := range pairs {
		if len(pairs[i].Key) > MaxKey {
			return fmt.Errorf("pair with a key of %d bytes, the most is %d", len(pairs[i].Key), MaxKey)
		}
	}
	return nil
}

// ShortDigest stands for what a copy of the ledger knows of a job.
func ShortDigest(j *ledger.Job) [DigestLen]byte {
	d := j.Digest()
	return [DigestLen]byte(d[:DigestLen])
}

// CompareTasks orders tasks by job and index.
func CompareTasks(a, b task.TaskID) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Index, b.Index))
}

// SortedTasks lists the keys of a map in that order.
func SortedTasks[V any](m map[task.TaskID]V) []task.TaskID {
	return slices.SortedFunc(maps.Keys(m), CompareTasks)
}

// Retired asks one of the group whether it has what a replica was told to forget, or later
// than that: first by digests, then the pairs of the jobs that the answer named. One is under
// way at a time.
type Retired struct {
	Session uint64      `cbor:"1,keyasint"`              // another for each round of asking; not 0
	Seq     uint64      `cbor:"2,keyasint"`              // 1, 2, ...
	Jobs    []JobDigest `cbor:"3,keyasint" most:"4096"`  // at most MaxKnown
	Pairs   []Pair      `cbor:"4,keyasint" most:"16384"` // of jobs asked after before
}

// Kept answers a Retired.
type Kept struct {
	Session uint64       `cbor:"1,keyasint"`
	Seq     uint64       `cbor:"2,keyasint"`              // of the Retired that it answers
	Lacking []task.JobID `cbor:"3,keyasint" most:"16384"` // those asked after that it does not have so, or later
}

func (r *Retired) check() error {
	if len(r.Jobs) > MaxKnown || len(r.Pairs) > MaxPairs || r.Session == 0 {
		return fmt.Errorf("retired in session %d of %d jobs and %d pairs, the most is %d and %d", r.Session, len(r.Jobs),
			len(r.Pairs), MaxKnown, MaxPairs)
	}
	return checkPairs(r.Pairs)
}

func (k *Kept) check() error {
	if len(k.Lacking) > MaxPairs {
		return fmt.Errorf("kept of %d jobs, the most is %d", len(k.Lacking), MaxPairs)
	}
	return nil
}
