//go:build !linux && !windows && !darwin

package sensor

// System returns the sensors of this machine: on this system only the load.
func System() []Sensor { return []Sensor{Processors{}} }
