//go:build !linux

package sandbox

const middleVerb = "sandbox-middle"

func middle() {}
