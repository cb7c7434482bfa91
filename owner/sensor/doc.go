// Package sensor watches the machine for its owner: who touches keyboard and
// mouse, what others compute, whether memory, mains and network are plenty, and
// whether the machine is about to go.
//
// A Sensor reads one interface of the system. Where that interface is absent or
// closed the sensor is blind: it says why and what would help, and goes on
// looking for it. No sensor ever fails.
package sensor
