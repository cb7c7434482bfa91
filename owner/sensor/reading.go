package sensor

import (
	"context"
	"time"
)

// A Kind is what a reading is about.
type Kind uint8

// The kinds of readings, and the fields of Reading that each uses.
const (
	Input    Kind = iota // keyboard, mouse, touch: Touched, Present, Coarse
	Load                 // CPU that others use: Value, a share of the machine from 0 to 1
	Pressure             // memory: Value, the share of time that something waited for it
	Power                // On: the machine runs on batteries; Gauged, Value: their charge from 0 to 1
	Screen               // On: a program fills the screen, or keeps it from being blanked
	Network              // On: the network is metered
	Going                // On: the machine goes to sleep or shuts down; Until: when at the latest
	Wake                 // Touched: when the machine last woke from sleep
	Disk                 // Value: bytes that the node keeps
	kinds
)

// kindTexts are names for people, in the order of the constants.
var kindTexts = [kinds]string{"keyboard and mouse", "CPU load of others", "memory pressure", "power", "full screen",
	"metered network", "sleep and shutdown", "waking", "disk"}

// String returns the kind's name, such as "memory pressure".
func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return kindTexts[k]
}

// A Reading is what one sensor last saw of one kind.
type Reading struct {
	Sensor string // the Name of the sensor
	Kind   Kind
	At     time.Time // when it was read

	// Blind says why the sensor sees nothing, Fix what a person can do about it
	// ("" for nothing). For a sensor that sees both are empty.
	Blind string
	Fix   string

	// Touched is when the owner last used the machine as far as this sensor
	// knows; zero: never since the machine started.
	Touched time.Time
	// Present says that the owner is there now, without a moment known.
	Present bool
	// Coarse marks a Present that lasts for minutes after the last touch: the
	// desktop's own delay. It counts only where no finer sensor sees.
	Coarse bool
	// Partial marks a sensor that sees only some of the ways in: terminals, or
	// the X programs of a Wayland desktop.
	Partial bool
	// Gauged says that Value is the charge: there is a battery, and it tells.
	Gauged bool
	Value  float64
	On     bool
	Until  time.Time // of Going; without On: a shutdown planned for then
	Detail string    // for people: what exactly was seen
}

// A Sensor watches one interface of the system.
type Sensor interface {
	// Name is unique among the sensors of a machine, such as "x11".
	Name() string
	// Kinds lists what the sensor tells.
	Kinds() []Kind
	// Run watches until ctx ends. Of each kind it reports at once what it sees
	// or that it is blind, and then every change; it calls report from one
	// goroutine at a time.
	Run(ctx context.Context, report func(Reading))
}

// A Holder is a sensor that holds the machine back from going, for the few
// seconds that the system grants, so that work can be moved.
type Holder interface {
	// Release lets the machine go.
	Release()
}

// step is the finest difference of two times of use that is worth a report:
// ten reports a second of an owner who types are plenty.
const step = 100 * time.Millisecond
