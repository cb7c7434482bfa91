//go:build !liars

package sandbox

// mishap is for builds that err on purpose: see mishap_liars.go.
func (x *execution) mishap() {}

func mishapEnv() []string { return nil }

// mishapBefore does nothing: see mishap.
func (*execution) mishapBefore(int) {}
