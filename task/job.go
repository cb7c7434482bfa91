package task

import "time"

// A Job is one submission as the swarm knows it: every file is a CID, every
// default is filled in. It is immutable once signed (see Record). Validate
// states its bounds.
type Job struct {
	Name    string `cbor:"1,keyasint"`
	Overlay string `cbor:"2,keyasint"` // name of the overlay it was handed to

	Module CID      `cbor:"3,keyasint"`             // a WebAssembly module for WASI preview 1
	Args   []string `cbor:"4,keyasint" most:"1024"` // templates; the program name is not among them
	Env    []EnvVar `cbor:"5,keyasint" most:"256"`  // values are templates; sorted by name, each name once
	// Files are templates of input file names as the task sees them, relative
	// to the sandbox's root. Inputs resolves every name they can expand to.
	Files   []string  `cbor:"6,keyasint" most:"1024"`
	Inputs  []FileRef `cbor:"7,keyasint" most:"10000"` // sorted by name, each name once
	Stdin   string    `cbor:"8,keyasint"`              // a template naming an entry of Inputs; "" for none
	Outputs []string  `cbor:"9,keyasint" most:"64"`    // "stdout", "stderr" or patterns of files written under the root

	Sweep Sweep `cbor:"10,keyasint"`

	Work       time.Duration `cbor:"11,keyasint"` // owner's guess for one task on a reference core; 0 unknown
	Memory     int64         `cbor:"12,keyasint"` // bytes of linear memory a task may have; > 0
	Replicas   int           `cbor:"13,keyasint"` // workers that must agree byte for byte; >= 1
	Retries    int           `cbor:"14,keyasint"` // further attempts for a task that fails by its own fault; >= 0
	Deadline   time.Duration `cbor:"15,keyasint"` // counted from Submitted; 0 none
	Priority   int           `cbor:"16,keyasint"` // larger goes first
	Checkpoint Checkpoint    `cbor:"17,keyasint"`

	Submitted Time   `cbor:"18,keyasint"` // by the submitter's clock
	Nonce     []byte `cbor:"19,keyasint"` // NonceSize bytes; makes two equal submissions two jobs

	Timeout time.Duration `cbor:"20,keyasint,omitempty"` // longest run of one attempt; 0: see TimeLimit

	// Class names tasks that are alike in how long they take on which members, for
	// placement policies that go by it: a name of at most MaxClass bytes, "" for none.
	Class string `cbor:"21,keyasint,omitempty"`
	// Weight is the job's part beside others of its priority, for policies of fair
	// shares that heed it: 1 to MaxWeight, 0 is 1.
	Weight int `cbor:"22,keyasint,omitempty"`
	// Sealed is the commitment to the key under which inputs, outputs and states are sealed:
	// see KeyCommitment. Sizes of inputs and outputs are those of the sealed files then. Empty
	// for a job whose content anybody may read who has its blocks.
	Sealed []byte `cbor:"23,keyasint,omitempty"`
	// Verify says how the submitter checks results; nil: not at all.
	Verify *Verify `cbor:"24,keyasint,omitempty"`
	// Adds is the job that this one adds tasks to; "" for none. Its sweep has one axis, AgainAxis. Members of a version
	// that knows no additions refuse it.
	Adds JobID `cbor:"25,keyasint,omitempty"`
	// Trials is the rule by which the submitter adds trials to the points of the sweep; nil for none. Sweep.Repeat is
	// the number with which each point begins. Members of a version that knows no such rules refuse it.
	Trials *Trials `cbor:"26,keyasint,omitempty"`
	// Slots is the largest number of leases that the job has at once at a leader, those that wait at a worker
	// included: 1 to MaxSlots, 0 for no limit.
	Slots int `cbor:"27,keyasint,omitempty"`
	// Stages are the parts of a job whose tasks read what others of it made, those that read none first. In such
	// a job Module is the first stage's; Args, Env, Files, Stdin, Outputs and Sweep are empty. A
	// node of before refuses it: it is not in the form that such a node knows.
	Stages []Stage `cbor:"30,keyasint,omitempty" most:"64"`
}

// NonceSize is the length of Job.Nonce in bytes: enough that two never meet.
const NonceSize = 16

// An EnvVar is one variable of a task's environment.
type EnvVar struct {
	Name  string `cbor:"1,keyasint"`
	Value string `cbor:"2,keyasint"`
}

// A FileRef is an input file: its name in the sandbox and its content.
type FileRef struct {
	Name string `cbor:"1,keyasint"`
	CID  CID    `cbor:"2,keyasint"` // UnixFS
	Size int64  `cbor:"3,keyasint"` // bytes, as it is stored: see Job.Sealed
}

// Checkpoint says how often a task's state is saved. The zero value is "auto".
type Checkpoint struct {
	Off   bool          `cbor:"1,keyasint"`
	Every time.Duration `cbor:"2,keyasint"` // 0: chosen by the system
}

// String returns the checkpoint as a job file has it: "auto", "off", "5m0s".
func (c Checkpoint) String() string {
	switch {
	case c.Off:
		return "off"
	case c.Every == 0:
		return "auto"
	}
	return c.Every.String()
}

// An Invocation is what one task of a job runs with: Job.Expand makes it.
type Invocation struct {
	Params []EnvVar // the sweep point, axis by axis in file order, then "trial"
	Args   []string
	Env    []EnvVar
	Files  []FileRef // each name once
	Stdin  *FileRef  // nil for an empty standard input
}
