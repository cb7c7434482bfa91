//go:build !linux || !(amd64 || arm64)

package sandbox

const holeVerb = "sandbox-hole"

func hole() {}
