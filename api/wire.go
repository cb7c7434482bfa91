package api

import (
	"godwit/blocks/seal"
	"godwit/node"
	"godwit/scheduler/message"
	"godwit/task"
)

// A SubmitRequest hands in a job whose module and inputs were stored by
// POST /v1/files.
type SubmitRequest struct {
	// FileName and File are the job file's name, for error messages, and its
	// text. With an empty text Args are run once, with every default.
	FileName string   `json:"file_name"`
	File     string   `json:"file"`
	Args     []string `json:"args,omitempty"`
	Module   task.CID `json:"module"`
	// Modules are those of a job with stages, by stage; Module is empty then.
	Modules map[string]task.CID `json:"modules,omitempty"`
	Inputs  []task.FileRef      `json:"inputs"`
	// Tables are those of the axes that the job file takes from files, by the axis, or STAGE.AXIS: see task.Table. Each
	// was stored like an input.
	Tables map[string]task.Table `json:"tables,omitempty"`
	// Overlay to hand it to: its name, its ID or enough of the ID's end to be
	// unique; "" is commons, or the
	// node's first.
	Overlay string `json:"overlay,omitempty"`
	// Key is the one that KeyReply had, if the inputs were stored sealed under it.
	Key []byte `json:"key,omitempty"`
	// Reuse takes results that the node holds of other jobs, for tasks of the same module, point, arguments, environment
	// and inputs.
	Reuse bool `json:"reuse,omitempty"`
}

// KeyReply has a key under which the inputs of a job are to be stored, by the header
// KeyHeader; none where jobs are not sealed.
type KeyReply struct {
	Key []byte `json:"key,omitempty"`
}

// KeyHeader is the header of POST /v1/files with the key, in base64, under which the file is
// sealed before it is stored.
const KeyHeader = "Godwit-Key"

// A RetryRequest asks for the tasks of a job that failed to be run again.
type RetryRequest struct {
	// Module is that of the new job, stored like any; "" for the one of before.
	Module task.CID `json:"module,omitempty"`
	// Stage is whose module that is, of a job with stages; "" for the only one of which tasks failed.
	Stage string `json:"stage,omitempty"`
}

// An AddRequest says which tasks are added to a job. Sweep, Trials or More has to be given.
type AddRequest struct {
	// Sweep has values of axes: each new point gets tasks, of the product with all values of the other axes.
	Sweep map[string][]string `json:"sweep,omitempty"`
	// Trials is the number of trials of each new point; 0 means as many as the job's points have. Without Sweep it is
	// the number of further trials of each point that Points selects.
	Trials uint64 `json:"trials,omitempty"`
	// Points selects points by values of axes, by the names that templates have; none selects all.
	Points map[string][]string `json:"points,omitempty"`
	// More are numbers of further trials of single points.
	More []node.MoreTrials `json:"more,omitempty"`
	// Tasks is the number of tasks that the job has with all additions, as far as the client knows. If it has another
	// number, the answer is 412 and nothing is added. 0 means that it does not matter.
	Tasks uint64 `json:"tasks,omitempty"`
}

// AddReply names the job that has the added tasks.
type AddReply struct {
	ID    task.JobID `json:"id"`
	To    task.JobID `json:"to"` // the job to which they were added
	Tasks uint64     `json:"tasks"`
	// Known is the number of points of AddRequest.Sweep that the job had already. They got no tasks.
	Known uint64 `json:"known,omitempty"`
}

// SubmitReply names the accepted job.
type SubmitReply struct {
	ID task.JobID `json:"id"`
}

// FileReply names stored content.
type FileReply struct {
	CID  task.CID `json:"cid"`
	Size int64    `json:"size"` // bytes that are stored
}

// Results is a page of a job's ended tasks, as CBOR: results keep their
// signatures, so that the client can check them itself.
type Results struct {
	Total uint64                `cbor:"1,keyasint"` // tasks of the job
	Tasks []message.TaskSummary `cbor:"2,keyasint"`
	// Record is the job itself, on the page from task 0 on: what its results may be.
	Record *task.Record `cbor:"3,keyasint,omitempty"`
	// Final says of an answer to a Have that has no tasks that there will be no others.
	Final bool `cbor:"4,keyasint,omitempty"`
}

// Have says which ended tasks a client has, of a job: it is answered with others, as soon as there are
// some.
type Have struct {
	Ranges []message.Range `cbor:"1,keyasint" most:"65536"` // ascending, neither overlapping nor touching
	Record bool            `cbor:"2,keyasint,omitempty"`    // the job itself is wanted
}

// Error is the body of every answer that is not 2xx.
type Error struct {
	Message string `json:"error"`
	Hint    string `json:"hint,omitempty"`
	Kind    string `json:"kind"` // one of the Kind constants
	Status  int    `json:"-"`    // HTTP status
	// Password says, of KindAuth, that a password would let the caller in.
	Password bool `json:"password,omitempty"`
}

// Error returns the message; the hint is shown apart.
func (e *Error) Error() string { return e.Message }

// Kinds of errors, by what the caller can do about them.
const (
	KindInput       = "input"       // what was sent is wrong
	KindNotFound    = "not-found"   // no such job, file, task, peer or overlay
	KindRefused     = "refused"     // the coordinator, a founder or a rule says no
	KindUnreachable = "unreachable" // no coordinator known, or it does not answer
	KindInternal    = "internal"    // the node's own trouble
	KindAuth        = "auth"        // token missing or wrong
)

const (
	// MaxJobFile bounds a submission's body, in bytes: the largest job file
	// and the references of its inputs.
	MaxJobFile = 8 << 20
	// MaxFile bounds one uploaded file, in bytes.
	MaxFile = 4 << 30
	// maxStored is what such a file has at most when it is sealed.
	maxStored = MaxFile + (MaxFile/seal.Chunk+2)*seal.Overhead
	// resultPage is how many tasks one page of results holds: at a few inline
	// kibibytes each, well below what the codec takes at once.
	resultPage = 200
)

// SocketName is the unix socket's name in the data directory, TokenName that
// of the file with the token for TCP, AddrName that of the file with the TCP
// address of the running node. PasswordName is that of the file with the hash of the
// dashboard's password, CertName that of its certificate with its key.
const (
	SocketName   = "api.sock"
	TokenName    = "api.token"
	AddrName     = "api.addr"
	PasswordName = "api.password"
	CertName     = "api.pem"
)
