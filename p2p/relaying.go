package p2p

import (
	"fmt"
	"time"
)

// Relaying says what a node carries for members that cannot reach each other
// (circuit relay v2). The zero value relays within the defaults.
type Relaying struct {
	// Off relays nothing for anybody: the protocol is not spoken, and who asks
	// for it is told so. The node may still be reached through others.
	Off bool
	// Bytes is what one circuit carries each way before it is cut; 0 means
	// DefaultCircuitBytes.
	Bytes int64
	// Time is how long one circuit lasts, in whole seconds; 0 means
	// DefaultCircuitTime.
	Time time.Duration
	// Rate is the bytes a second that all circuits together carry, both ways
	// counted, below what the owner allows (SetRates); 0 means DefaultRelayRate.
	Rate int64
	// Daily is the bytes that are carried in a day for members that the node does not work
	// with, until SetRelayed says otherwise: read from them and written to them. 0 means
	// DefaultRelayedDaily.
	Daily int64
}

const (
	// DefaultCircuitBytes takes a hand-over of 256 MiB of memory that does not
	// compress, sent over four rounds, and it bounds what two peers that agree on
	// nothing but moving bytes take from a volunteer before they must ask again.
	DefaultCircuitBytes = 1 << 30
	// DefaultCircuitTime lets the longest hand-over, half an hour, begin at any
	// time of the first three quarters of a circuit's life.
	DefaultCircuitTime = 2 * time.Hour
	// DefaultRelayRate holds where the owner names no rate: 32 Mbit/s of what a
	// usual line has. A hand-over of 64 MiB takes 32 s, as its bytes count
	// when they come and when they go on.
	DefaultRelayRate = 4 << 20
	// DefaultRelayedDaily is a volunteer's gift to strangers in a day: the adverts, offers and
	// small results of dozens of hidden members, and no way to move what is large.
	DefaultRelayedDaily = 1 << 30
)

func (r Relaying) check() (Relaying, error) {
	switch {
	case r.Bytes < 0 || r.Rate < 0 || r.Daily < 0:
		return r, fmt.Errorf("p2p: relaying %d bytes a circuit, %d a second: less than nothing; to relay nothing set Off",
			r.Bytes, r.Rate)
	case r.Time < 0 || r.Time%time.Second != 0:
		return r, fmt.Errorf("p2p: circuits of %v: want whole seconds", r.Time)
	}
	if r.Bytes == 0 {
		r.Bytes = DefaultCircuitBytes
	}
	if r.Time == 0 {
		r.Time = DefaultCircuitTime
	}
	if r.Daily == 0 {
		r.Daily = DefaultRelayedDaily
	}
	if r.Rate == 0 {
		r.Rate = DefaultRelayRate
	}
	return r, nil
}
