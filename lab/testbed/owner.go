package testbed

import (
	"fmt"
	"os"
	"path/filepath"

	"godwit/lab/traces"
	"godwit/trace"
)

// ownerName is the file, in a node's directory, of the history that plays its
// owner.
const ownerName = "owner.csv"

// WriteOwner writes a history in real time below dir, for nodes to play (`godwit up --replay`). It returns the
// file's path.
func WriteOwner(dir string, h *trace.History) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a node's directory: %w", err)
	}
	t := &trace.Trace{Name: h.Host, Start: h.Since(), End: h.Until(), Hosts: []trace.Host{{History: h}}}
	path := filepath.Join(dir, ownerName)
	if err := traces.Write(path, t, trace.CSV); err != nil {
		return "", fmt.Errorf("writing what a host does: %w", err)
	}
	return path, nil
}
