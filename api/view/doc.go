// Package view makes of what a node knows what a page shows: sentences, counts and at
// most MaxRows rows, however large the swarm and its jobs are. It asks nobody and keeps
// nothing.
package view

import (
	"godwit/task"
)

const (
	// MaxRows bounds every list that a page is given: nobody reads more.
	MaxRows = 200
	// maxText bounds a text that another node wrote, in bytes.
	maxText = 400
)

// clean is a text of another node as people may see it.
func clean(s string) string { return task.Printable(s, maxText) }
