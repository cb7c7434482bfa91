package main

import (
	"math"
	"math/rand/v2"
)

const side = 100 // of the square, m

// Values of node.parent: sink is the sink itself, and nobody means that the node has no way to the sink.
const (
	sink   = -1
	nobody = -2
)

// A network is nodes in a square with a sink in its middle.
type network struct {
	reach  float64 // radio range, m
	nodes  []node
	random *rand.Rand
}

// A node sends its measurements to its parent.
type node struct {
	x, y   float64 // m
	parent int     // a node, sink or nobody
	hops   int     // to the sink
	energy float64 // left, J
}

// scatter returns a network of nodes at places that depend on the seed alone: with a larger range, the same nodes hear
// each other better.
func scatter(nodes int, reach float64, seed uint64) *network {
	const battery = 0.5 // J
	n := &network{reach: reach, random: rand.New(rand.NewPCG(seed, 0x5e4507))}
	for range nodes {
		n.nodes = append(n.nodes, node{x: side * n.random.Float64(), y: side * n.random.Float64(), parent: nobody,
			energy: battery})
	}
	return n
}

// route gives each node the way to the sink with the fewest hops, and of these the one whose next node is the nearest.
func (n *network) route() {
	var last []int
	for i := range n.nodes {
		if d := n.distance(i, sink); d <= n.reach {
			n.nodes[i].parent, n.nodes[i].hops = sink, 1
			last = append(last, i)
		}
	}
	for hops := 2; len(last) > 0; hops++ {
		var next []int
		for i := range n.nodes {
			if n.nodes[i].parent != nobody {
				continue
			}
			nearest := n.reach
			for _, j := range last {
				if d := n.distance(i, j); d <= nearest {
					nearest, n.nodes[i].parent, n.nodes[i].hops = d, j, hops
				}
			}
			if n.nodes[i].parent != nobody {
				next = append(next, i)
			}
		}
		last = next
	}
}

// distance returns the distance of a node from another one, or from the sink, in meters.
func (n *network) distance(i, j int) float64 {
	x, y := side/2.0, side/2.0
	if j != sink {
		x, y = n.nodes[j].x, n.nodes[j].y
	}
	return math.Hypot(n.nodes[i].x-x, n.nodes[i].y-y)
}
