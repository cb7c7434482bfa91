//go:build !liars

package sandbox

// mishap is for builds that err on purpose: see mishap_liars.go.
func (x *execution) mishap() {}

func mishapEnv() []string { return nil }
