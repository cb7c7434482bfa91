package task

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ipfs/go-cid"
)

// PeerID names a node: its libp2p peer ID in text form ("12D3KooW..."). The
// core only compares and sorts it. For Ed25519 keys, the only kind a node has,
// it contains the public key itself: see PublicKey.
type PeerID string

// CID is a content identifier, version 1, in its canonical base32 text
// ("bafy...", "bafk..."). The empty string means "no content". Text from
// outside becomes a CID through ParseCID.
type CID string

// JobID is the CID of a job's signed record, so that it names exactly one job
// and can be checked by whoever fetches the record.
type JobID string

// TaskID names one task: a job and the index of its point in the job's sweep,
// from 0 to Job.Tasks()-1.
type TaskID struct {
	Job   JobID  `cbor:"1,keyasint" json:"job"`
	Index uint64 `cbor:"2,keyasint" json:"index"`
}

// String returns "JOB/INDEX", the form that ParseTaskID reads.
func (t TaskID) String() string {
	return string(t.Job) + "/" + strconv.FormatUint(t.Index, 10)
}

// ParseTaskID reads the form that TaskID.String writes, and no other spelling
// of it: equal tasks have equal text. It cannot know how many tasks the job
// has.
func ParseTaskID(s string) (TaskID, error) {
	job, index, found := strings.Cut(s, "/")
	if !found {
		return TaskID{}, fmt.Errorf("task ID %s: want JOB/INDEX", quote(s))
	}
	id, err := ParseJobID(job)
	if err != nil {
		return TaskID{}, fmt.Errorf("task ID: %w", err)
	}
	n, err := strconv.ParseUint(index, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != index {
		return TaskID{}, fmt.Errorf("task ID: index %s is not a number of a task", quote(index))
	}
	return TaskID{Job: id, Index: n}, nil
}

// ParseJobID checks that s could name a job: the canonical text of a version 1
// CID of DAG-CBOR hashed with SHA2-256.
func ParseJobID(s string) (JobID, error) {
	codec, err := codecOf(s)
	if err != nil {
		return "", fmt.Errorf("job ID %s: %w", quote(s), err)
	}
	if codec != cid.DagCBOR {
		return "", fmt.Errorf("job ID %s: it names a file or a block, not a job", quote(s))
	}
	return JobID(s), nil
}

// ParseCID checks that s is the canonical text of a CID as Godwit uses them:
// version 1, base32, SHA2-256, of a raw block, a UnixFS node or DAG-CBOR.
func ParseCID(s string) (CID, error) {
	if _, err := codecOf(s); err != nil {
		return "", fmt.Errorf("CID %s: %w", quote(s), err)
	}
	return CID(s), nil
}

// Valid reports whether ParseCID accepts c. The empty CID is not valid.
func (c CID) Valid() bool {
	_, err := codecOf(string(c))
	return err == nil
}

// RawCID returns the CID of b as one raw block, which is also what
// `ipfs add --cid-version=1` gives for a file of one block.
func RawCID(b []byte) CID { return CID(sumCID(cid.Raw, b)) }

// maxQuoted is how much of a bad word an error repeats, in bytes. A person
// recognises the rest, and a hostile one fills no log.
const maxQuoted = 64

// quote renders a word of unknown origin for an error message.
func quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(s[:maxQuoted]) + "..."
	}
	return strconv.Quote(s)
}
