package p2p

import (
	"time"

	"godwit/p2p/wire"

	"github.com/libp2p/go-libp2p/core/protocol"
)

// Protocol IDs. A change of the bytes is a new number; docs/protocol.md
// describes them.
const (
	ProtocolFrame   = "/godwit/frame/1"
	ProtocolRequest = "/godwit/request/1"
	ProtocolUrgent  = "/godwit/urgent/1"
	ProtocolHello   = "/godwit/hello/1"
	ProtocolHello2  = "/godwit/hello/2" // the same, of who reads adverts of members of cells
	ProtocolBlocks  = "/godwit/blocks/1"
	ProtocolCompare = "/godwit/compare/1" // who knows which members

	ProtocolHandOver = "/godwit/handover/1"
)

var protocols = []protocol.ID{ProtocolFrame, ProtocolRequest, ProtocolUrgent, ProtocolHello, ProtocolHello2,
	ProtocolCompare, ProtocolBlocks, ProtocolHandOver}

// Limits of what travels, checked before anything is allocated.
const (
	MaxFrame   = 4 << 20  // bytes; a ledger delta of some 10,000 rows
	MaxRequest = 4 << 20  // bytes of a request's or an answer's body
	MaxUrgent  = 16 << 10 // bytes of the body of a request that goes ahead: a lease names few peers
	MaxMethod  = 64       // bytes of a method's name
	maxErrText = 1 << 10  // bytes of an error's text
)

// Deadlines. They cut off a peer that stopped, not one that is slow: each
// covers one message at most.
const (
	openTimeout    = 15 * time.Second // dial and negotiate
	messageTimeout = wire.MessageTime
)
