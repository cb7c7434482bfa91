// Package schedtest has what tests of a scheduler's machines share: identities, jobs
// and messages. Only tests use it.
package schedtest

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"iter"
	"strings"
	"testing"
	"time"

	"godwit/task"
)

// Start is where the clock of these tests begins.
var Start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// Identity returns the key and ID of a node; equal numbers are the same node.
func Identity(n int) (ed25519.PrivateKey, task.PeerID) {
	var seed [ed25519.SeedSize]byte
	binary.BigEndian.PutUint64(seed[:], uint64(n))
	key := ed25519.NewKeyFromSeed(seed[:])
	return key, task.PeerIDOf(key.Public().(ed25519.PublicKey))
}

// ContentKey is the key of the jobs that Seal seals.
var ContentKey = bytes.Repeat([]byte{9}, task.KeySize)

// Seal makes a job a sealed one.
func Seal(j *task.Job) { j.Sealed = task.KeyCommitment(ContentKey) }

// Job returns a signed job of n tasks; change may be nil. A sealed one has its key.
func Job(tb testing.TB, key ed25519.PrivateKey, n uint64, change func(*task.Job)) task.Record {
	tb.Helper()
	j := &task.Job{
		Name: "test", Overlay: "commons", Module: task.RawCID([]byte("module")), Outputs: []string{"stdout"},
		Memory: 1 << 20, Replicas: 1, Retries: 2, Submitted: task.At(Start), Nonce: bytes.Repeat([]byte{7}, 16),
		Sweep: task.Sweep{Repeat: n},
	}
	if change != nil {
		change(j)
	}
	rec, err := task.SignJob(j, key)
	if err != nil {
		tb.Fatal(err)
	}
	if len(j.Sealed) > 0 {
		rec.Key = ContentKey
	}
	return rec
}

// Result returns a completed run of a task, signed, with a standard output of those words.
func Result(tb testing.TB, key ed25519.PrivateKey, id task.TaskID, says string) task.Result {
	tb.Helper()
	r := Unsigned(id, says)
	if err := r.Sign(key); err != nil {
		tb.Fatal(err)
	}
	return r
}

// Unsigned is Result before its worker signs it.
func Unsigned(id task.TaskID, says string) task.Result {
	return task.Result{Task: id, Outcome: task.Completed, Outputs: []task.Output{
		{Name: task.Stdout, CID: task.RawCID([]byte(says)), Size: int64(len(says)), Inline: []byte(says)},
	}}
}

// ScanOf gives a submitter's Restore the pairs of a disk.
func ScanOf(disk map[string][]byte) func(prefix string) iter.Seq2[string, []byte] {
	return func(prefix string) iter.Seq2[string, []byte] {
		return func(yield func(string, []byte) bool) {
			for key, value := range disk {
				if strings.HasPrefix(key, prefix) && !yield(key, value) {
					return
				}
			}
		}
	}
}
