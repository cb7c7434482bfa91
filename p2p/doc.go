// Package p2p connects a node to the swarm: it finds peers and keeps
// connections to them, spreads adverts, and carries frames, requests and transfers
// of content between nodes.
//
// [New] listens, [Host.Run] serves. What arrives goes to a [Handler]. Peers are
// named by [task.PeerID], content by [task.CID], so that nothing outside this
// package needs to know libp2p.
//
// Five protocols run over libp2p streams, one file each: frames (outbox.go,
// inbox.go), requests (request.go), hello (hello.go), blocks (transfer.go; package
// blocks speaks it) and hand-overs (handover.go); adverts also travel by GossipSub, a topic for each overlay that the
// host has joined (gossip.go, membership.go). docs/protocol.md tells their bytes,
// limits and deadlines.
//
// What a [Handler] may rely on, for each peer: Connected comes before the first
// Frame; frames come in the order they were sent, without a gap; when a frame
// may have been lost, Disconnected or Trimmed comes before any later Frame.
package p2p
