//go:build !liars

package exec

import "godwit/sandbox"

// told is what is told of a run: what it came to.
func told(_ *attempt, run func() (sandbox.Report, error)) (sandbox.Report, error) { return run() }

// lies reports whether this build lies in a way.
func lies(string) bool { return false }
