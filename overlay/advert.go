package overlay

import (
	"time"

	"godwit/task"
	"godwit/trace"
)

// An Advert is what a member says about itself: soft state that expires.
// Adverts are ordered by Seq; of two from one peer the larger Seq holds.
type Advert struct {
	Peer    task.PeerID `cbor:"1,keyasint"`
	Overlay string      `cbor:"2,keyasint"` // the overlay's name
	Seq     uint64      `cbor:"3,keyasint"` // grows with every advert, over restarts too (Unix ns at issue)
	Issued  time.Time   `cbor:"4,keyasint"`
	Expires time.Time   `cbor:"5,keyasint"`
	Addrs   []string    `cbor:"6,keyasint"` // multiaddrs without the /p2p part; at most MaxAddrs

	State  State   `cbor:"7,keyasint"`
	Slots  int     `cbor:"8,keyasint"`  // tasks it will run at once; 0 for a node that only submits
	Memory int64   `cbor:"9,keyasint"`  // bytes it lends to tasks, all slots together
	Speed  float64 `cbor:"10,keyasint"` // relative to the reference core; 0 unknown

	// Manifest is the overlay manifest this member follows.
	Manifest Manifest `cbor:"11,keyasint"`
	// Epoch is the member's term as leader; 0 when it does not lead.
	Epoch   uint64 `cbor:"12,keyasint"`
	Version string `cbor:"13,keyasint"`

	Signature []byte `cbor:"14,keyasint"` // by Peer's key over all other fields
}

// State is what a member's machine is doing.
type State = trace.State

// The five states, under the names that go with adverts.
const (
	Available   = trace.Available
	UserPresent = trace.UserPresent
	CPUBusy     = trace.CPUBusy
	Leaving     = trace.Leaving
	Unavailable = trace.Unavailable
)

// A Manifest founds an overlay. It is signed by its founder.
//
// Two nodes that start apart may each found an overlay of the same name; when
// they meet, all follow the manifest founded first (ties: the smaller founder
// ID), so that one remains. Better says which of two that is.
type Manifest struct {
	Name      string      `cbor:"1,keyasint"`
	Founder   task.PeerID `cbor:"2,keyasint"`
	Founded   time.Time   `cbor:"3,keyasint"`
	Placement string      `cbor:"4,keyasint"` // placement policy by name; "" means fcfs
	Signature []byte      `cbor:"5,keyasint"`
}
