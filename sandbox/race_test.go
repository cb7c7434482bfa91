//go:build race

package sandbox

// raceEnabled: the race detector's own memory counts as a child's.
const raceEnabled = true
