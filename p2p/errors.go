package p2p

import "errors"

// ErrClosed is returned by a Host whose Run has ended.
var ErrClosed = errors.New("p2p: host is closed")

// ErrBadPeer is returned for a text that is not a peer ID, and for this node's
// own.
var ErrBadPeer = errors.New("p2p: not the ID of another node")

// ErrStranger is returned for a peer with whom this node shares no overlay: none
// whose members it knows has admitted it.
var ErrStranger = errors.New("p2p: not a member of an overlay that this node is in")

// ErrBusy is returned when as many hand-overs run as may.
var ErrBusy = errors.New("p2p: too many hand-overs at once")

// ErrOutboxFull is returned by Send when too much waits for the peer.
var ErrOutboxFull = errors.New("p2p: outbox is full")

// ErrNotJoined is returned for an overlay that the host is not in.
var ErrNotJoined = errors.New("p2p: not in the overlay")
