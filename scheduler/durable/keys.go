// Package durable is what the machines of a scheduler share of what they keep over
// restarts: keys, encoding, the errors of reading it again, and the blocks it needs.
package durable

import (
	"fmt"
	"strings"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// TaskKey names a task in durable keys, so that keys sort as indices do.
func TaskKey(prefix string, id task.TaskID) string {
	return prefix + strings.TrimPrefix(ledger.RowKey(id), "r/")
}

// Encode encodes what this machine made, or decoded before. It fails for a time that
// task.At did not make: none that was decoded is one.
func Encode(v any) ([]byte, error) {
	b, err := task.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("scheduler: %w", err)
	}
	return b, nil
}
