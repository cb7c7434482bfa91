// Package p2p connects a node to the swarm: it finds peers and keeps
// connections to them, spreads adverts, carries frames and requests between
// nodes, and stores and moves content-addressed blocks.
//
// [New] listens, [Host.Run] serves. What arrives goes to a [Handler]. Peers are
// named by [task.PeerID], content by [task.CID], so that nothing outside this
// package needs to know libp2p.
//
// Five protocols run over libp2p streams, one file each: frames (outbox.go,
// inbox.go), requests (request.go), hello (hello.go), blocks (serve.go, fetch.go)
// and hand-overs (handover.go); adverts also travel by GossipSub, a topic for each overlay that the
// host has joined (gossip.go, membership.go). docs/protocol.md tells their bytes,
// limits and deadlines.
//
// What a [Handler] may rely on, for each peer: Connected comes before the first
// Frame; frames come in the order they were sent, without a gap; when a frame
// may have been lost, Disconnected comes before any later Frame.
//
// [OpenStore] opens what blocks and a node's own state are kept in. It outlives a
// disk that fills up, and says when what is on it is damaged or it failed: see
// [ErrDiskFull], [ErrCorrupt], [ErrBroken] and [CheckStore].
package p2p
