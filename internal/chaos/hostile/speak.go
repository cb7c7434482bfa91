package hostile

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"time"

	"github.com/fxamacker/cbor/v2"

	"godwit/internal/pause"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// raw encodes what need not be within any bound, in the form that the project has.
func raw(v any) []byte {
	mode, err := cbor.EncOptions{Sort: cbor.SortCoreDeterministic, Time: cbor.TimeRFC3339NanoUTC,
		TagsMd: cbor.TagsForbidden}.EncMode()
	if err != nil {
		panic(err) // the options are good
	}
	b, err := mode.Marshal(v)
	if err != nil {
		panic(err) // values of this package
	}
	return b
}

// newKey returns the key of somebody who does not exist.
func newKey() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err) // it cannot fail
	}
	return key
}

// record signs a job; change may say what is unusual about it.
func record(key ed25519.PrivateKey, of task.CID, tasks int64, change func(*task.Job)) (task.Record, error) {
	j := &task.Job{Name: "x", Overlay: string(of), Module: task.RawCID([]byte("m")), Outputs: []string{task.Stdout},
		Memory: 16 << 20, Replicas: 1, Submitted: task.At(time.Now()), Nonce: make([]byte, task.NonceSize)}
	rand.Read(j.Nonce)
	if tasks > 1 {
		j.Sweep.Axes = []task.Axis{{Name: "task", Step: 1, Count: uint64(tasks)}}
	}
	if change != nil {
		change(j)
	}
	return jobSignedBy(key, j)
}

// What is signed begins with its kind.
const (
	jobKind    = "godwit job 1\x00"
	resultKind = "godwit result 1\x00"
)

// jobSignedBy signs a job that need not be one that anybody takes.
func jobSignedBy(key ed25519.PrivateKey, j *task.Job) (task.Record, error) {
	b, err := task.Encode(j)
	return task.Record{Job: b, PublicKey: key.Public().(ed25519.PublicKey),
		Signature: ed25519.Sign(key, append([]byte(jobKind), b...))}, err
}

// jobOf signs one of short tasks, and has its record and its module to give.
func (s *stranger) jobOf(key ed25519.PrivateKey, tasks int64, change func(*task.Job)) (task.Record, error) {
	r, err := record(key, task.CID(s.pool()), tasks, func(j *task.Job) {
		j.Module = s.content.bytes(Guest(1))
		if change != nil {
			change(j)
		}
	})
	if err == nil {
		s.content.put(jobCodec, r.Encode())
	}
	return r, err
}

// known is what a replica says it knows.
func known(epoch uint64, pairs ...message.Pair) message.Message {
	var session [2]byte
	rand.Read(session[:])
	return message.Message{Known: &message.Known{Epoch: epoch, Session: 1 + uint64(session[0])<<8 + uint64(session[1]),
		Seq:   1,
		Pairs: pairs}}
}

func recordPair(r task.Record) message.Pair {
	return message.Pair{Key: ledger.JobKey(r.ID()), Value: r.Encode()}
}

func rowPair(id task.JobID, index int, row []byte) message.Pair {
	return message.Pair{Key: ledger.RowKey(task.TaskID{Job: id, Index: uint64(index)}), Value: row}
}

// saying is the result that a task wrote some text.
func saying(id task.JobID, index int, text string) task.Result {
	b := []byte(text)
	return task.Result{Task: task.TaskID{Job: id, Index: uint64(index)}, Outcome: task.Completed, CPU: time.Second,
		Outputs: []task.Output{{Name: task.Stdout, CID: task.RawCID(b), Size: int64(len(b)), Inline: b}}}
}

// signedBy signs a result that need not be one that anybody takes.
func signedBy(key ed25519.PrivateKey, r task.Result) (task.Result, error) {
	r.Worker, r.Signature = task.PeerIDOf(key.Public().(ed25519.PublicKey)), nil
	b, err := task.Encode(&r)
	r.Signature = ed25519.Sign(key, append([]byte(resultKind), b...))
	return r, err
}

// ended is a report of a result.
func ended(epoch uint64, a message.Attempt, r task.Result) message.Message {
	return message.Message{Report: &message.Report{Epoch: epoch, Ended: []message.Ending{{Attempt: a, Result: r}}}}
}

// rest gives what was said the time to do its work.
func rest(ctx context.Context) error { return pause.For(ctx, 2*time.Second) }
