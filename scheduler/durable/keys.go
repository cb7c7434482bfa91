// Package durable is what the machines of a scheduler share of what they keep over
// restarts: keys, encoding, the errors of reading it again, and the blocks it needs.
package durable

import (
	"strings"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// TaskKey names a task in durable keys, so that keys sort as indices do.
func TaskKey(prefix string, id task.TaskID) string {
	return prefix + strings.TrimPrefix(ledger.RowKey(id), "r/")
}

// Encode encodes what this machine made, or decoded before.
func Encode(v any) []byte {
	b, err := task.Encode(v)
	if err != nil {
		panic("scheduler: " + err.Error())
	}
	return b
}
