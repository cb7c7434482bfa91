//go:build !linux

package owner

// planCage has nothing to plan with.
func planCage() *Cage { return &Cage{why: "only Linux has control groups"} }
