package task

import "strconv"

// PeerID names a node: its libp2p peer ID in text form ("12D3KooW..."). The
// core only compares and sorts it. For Ed25519 keys, the only kind a node has,
// it contains the public key itself.
type PeerID string

// CID is a content identifier, version 1, in its canonical base32 text
// ("bafy...", "bafk..."). The empty string means "no content".
type CID string

// JobID is the CID of a job's signed record, so that it names exactly one job
// and can be checked by whoever fetches the record.
type JobID string

// TaskID names one task: a job and the index of its point in the job's sweep,
// from 0 to Sweep.Count()-1.
type TaskID struct {
	Job   JobID  `cbor:"1,keyasint" json:"job"`
	Index uint64 `cbor:"2,keyasint" json:"index"`
}

// String returns "JOB/INDEX", the form that ParseTaskID reads.
func (t TaskID) String() string {
	return string(t.Job) + "/" + strconv.FormatUint(t.Index, 10)
}
