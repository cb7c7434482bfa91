package main

// The radio takes energy for each bit that it sends or receives, and more for larger distances. Model and constants are
// those of W. R. Heinzelman, A. Chandrakasan and H. Balakrishnan, Energy-Efficient Communication Protocol for Wireless
// Microsensor Networks, HICSS 2000, section 2.
const (
	bits      = 2000    // of a packet
	circuit   = 50e-9   // J for a bit, sent or received
	amplifier = 100e-12 // J for a bit and square meter
)

const (
	tries = 5  // maximum transmissions of a packet at each hop
	lossy = .3 // chance that a packet is lost at the limit of the range; it grows with the square of the distance
	most  = 100_000
)

// An outcome describes the life of a network.
type outcome struct {
	// Lifetime is the number of rounds until the first node has no energy left; nil if no node reaches the sink.
	Lifetime  *int     `json:"lifetime,omitempty"`
	Connected float64  `json:"connected"`           // share of nodes with a way to the sink
	Hops      *float64 `json:"hops,omitempty"`      // mean of these
	Delivered *float64 `json:"delivered,omitempty"` // share of their packets that arrived
}

// live has each connected node send a packet in each round until the first node dies.
func (n *network) live() outcome {
	connected, hops := 0, 0
	for i := range n.nodes {
		if n.nodes[i].parent != nobody {
			connected++
			hops += n.nodes[i].hops
		}
	}
	out := outcome{Connected: float64(connected) / float64(len(n.nodes))}
	if connected == 0 {
		return out
	}
	sent, arrived, rounds := 0, 0, 0
	for alive := true; alive && rounds < most; rounds++ {
		for i := range n.nodes {
			if n.nodes[i].parent == nobody {
				continue
			}
			sent++
			if n.deliver(i) {
				arrived++
			}
		}
		for i := range n.nodes {
			alive = alive && n.nodes[i].energy > 0
		}
	}
	mean, share := float64(hops)/float64(connected), float64(arrived)/float64(sent)
	out.Lifetime, out.Hops, out.Delivered = &rounds, &mean, &share
	return out
}

// deliver sends a packet from a node to the sink, and reports whether it arrived.
func (n *network) deliver(from int) bool {
	for at := from; at != sink; at = n.nodes[at].parent {
		if !n.hop(at) {
			return false
		}
	}
	return true
}

// hop sends a packet from a node to its parent, again if it is lost, and reports whether it arrived.
func (n *network) hop(at int) bool {
	to := n.nodes[at].parent
	d := n.distance(at, to)
	for range tries {
		n.nodes[at].energy -= bits * (circuit + amplifier*d*d)
		if n.random.Float64() < lossy*d*d/(n.reach*n.reach) {
			continue
		}
		if to != sink {
			n.nodes[to].energy -= bits * circuit
		}
		return true
	}
	return false
}
