package scheduler

import (
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// bytesOf estimates the durable size of what is known of a job.
func bytesOf(j *ledger.Job) int {
	n := len(j.Record.Job) + rangeBytes*(len(j.Facts.Done)+len(j.Facts.Failed))
	for _, row := range j.Rows {
		n += rowBytes(row)
	}
	return n
}

// rowBytes estimates the encoded size of a row, a little high.
func rowBytes(r *ledger.Row) int {
	const fixed, perLog, perVoid = 40, 250, 80
	n := fixed + perLog*len(r.Log) + perVoid*len(r.Voided)
	for i := range r.Results {
		n += message.ResultBytes(&r.Results[i])
	}
	for i := range r.Failures {
		n += message.ResultBytes(&r.Failures[i].Result)
	}
	return n
}

// rangeBytes is about what a range of a set takes, encoded.
const rangeBytes = 12

// recordBytes is the size of a record as quotas count it.
func recordBytes(r *task.Record) int64 {
	return int64(len(r.Job) + len(r.PublicKey) + len(r.Signature) + len(r.Key))
}
