package p2p

// Reasons for which an advert is dropped, as Stats counts them.
const (
	dropSize     = "size"
	dropInvalid  = "invalid" // bytes, bounds or signature
	dropExpired  = "expired"
	dropOverlay  = "overlay"  // gossiped in another overlay than its own
	dropStranger = "stranger" // whom its overlay does not admit
	dropOlder    = "older"    // than the one that is known
	dropRivals   = "rivals"   // two adverts with the same number: the peer is lying
	dropFuture   = "future"   // issued in it
	dropFull     = "full"
	dropFlood    = "flood" // more newcomers than one neighbour may tell of
	dropCrowd    = "crowd" // more newcomers than all neighbours together may
	dropOften    = "often" // a member that renews its advert without pause
	dropOwnEcho  = "own"
	dropNotHello = "hello" // a hello that breaks off or is too long
)

// verdict says what to do with an advert that arrived.
type verdict int

const (
	isNew     verdict = iota // keep, tell, pass on
	isRenewal                // the same, without hurry: it says nothing new
	isKnown                  // the very advert that is known: pass on
	isStale                  // harmless: drop
	isBad                    // the sender should have seen it: drop
)
