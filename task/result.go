package task

import "time"

// Outcome says how an attempt of a task ended.
type Outcome uint8

// The outcomes. Those from ExitFailure to TimedOut are the task's own fault
// and count against Job.Retries; Interrupted and HostError are the host's and
// do not.
const (
	OutcomeUnknown Outcome = iota
	Completed              // exit code 0
	ExitFailure            // the program ended with another exit code
	Trapped                // a WebAssembly trap, or an import called against its contract
	OutOfMemory            // the program could not live in Job.Memory
	OverQuota              // files, their number or output beyond the limits
	TimedOut               // ran longer than the limit allows
	InvalidModule          // the module does not compile, or an import is missing
	Interrupted            // stopped by the host: its owner, a cancel, a shutdown
	HostError              // the host could not run it (disk full, process lost)
)

// An Output is one file that a task produced, or its standard output.
type Output struct {
	Name string `cbor:"1,keyasint" json:"name"` // "stdout", "stderr" or a path under the sandbox's root
	CID  CID    `cbor:"2,keyasint" json:"cid"`  // UnixFS, as `ipfs add --cid-version=1` gives
	Size int64  `cbor:"3,keyasint" json:"size"` // bytes
	// Inline is the content itself where it is at most MaxInline bytes; then
	// the CID is of these bytes and there is no block to fetch.
	Inline []byte `cbor:"4,keyasint,omitempty" json:"-"`
}

// MaxInline is the largest output, in bytes, that travels inside its result.
// Below about this size a block of its own costs more than it saves.
const MaxInline = 1024

// A Result is what a worker says about one ended attempt. The fields that
// replicas must agree on are Outcome, ExitCode and Outputs: see Digest.
type Result struct {
	Task     TaskID        `cbor:"1,keyasint" json:"task"`
	Worker   PeerID        `cbor:"2,keyasint" json:"worker"`
	Outcome  Outcome       `cbor:"3,keyasint" json:"outcome"`
	ExitCode uint32        `cbor:"4,keyasint" json:"exit_code"`
	Message  string        `cbor:"5,keyasint,omitempty" json:"message,omitempty"` // for people; at most MaxMessage bytes
	Outputs  []Output      `cbor:"6,keyasint" json:"outputs"`                     // sorted by name, each name once
	CPU      time.Duration `cbor:"7,keyasint" json:"cpu_ns"`
	Wall     time.Duration `cbor:"8,keyasint" json:"wall_ns"`
	// Signature is the worker's Ed25519 signature over all other fields.
	Signature []byte `cbor:"9,keyasint" json:"-"`
}

// MaxMessage bounds Result.Message, in bytes.
const MaxMessage = 512
