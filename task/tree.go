package task

import "crypto/sha256"

// What is signed together is the leaves of a Merkle tree, with a power of two of them, of which
// those that are too many are zero: one signature is over the root, and whatever is signed has its
// place among the leaves, and the nodes beside the way from there to the root, the lowest first.

const (
	// treeDepth bounds the levels of a tree: a signature takes as long as the hashing of some
	// twenty leaves, and each level adds a node to what is signed wherever it goes.
	treeDepth = 4
	treeSize  = 1 << treeDepth
)

// A node is a hash, of which the tree says how many bytes count.
type node [sha256.Size]byte

// A tree says of how many bytes each node is, at most sha256.Size.
type tree int

// leaf is that of some bytes.
func (w tree) leaf(of []byte) node { return sha256.Sum256(append([]byte{leafMark}, of...)) }

// join is the node above two.
func (w tree) join(left, right *node) node {
	var b [1 + 2*sha256.Size]byte
	b[0] = nodeMark
	copy(b[1:], left[:w])
	copy(b[1+w:], right[:w])
	return sha256.Sum256(b[:1+2*w])
}

// ways returns the root of a tree of so many leaves, at least one and at most treeSize, and the way
// from each of them there; nil for one that is alone. It changes leaves.
func (w tree) ways(leaves []node) (root []byte, ways [][]byte) {
	depth := 0
	for 1<<depth < len(leaves) {
		depth++
	}
	ways = make([][]byte, len(leaves))
	all := make([]byte, len(leaves)*depth*int(w))
	level := make([]node, 1<<depth)
	copy(level, leaves)
	for d := range depth {
		for i := range leaves {
			copy(all[(i*depth+d)*int(w):], level[i>>d^1][:w])
		}
		for i := range len(level) / 2 {
			level[i] = w.join(&level[2*i], &level[2*i+1])
		}
		level = level[:len(level)/2]
	}
	for i := 0; i < len(leaves) && depth > 0; i++ {
		end := (i + 1) * depth * int(w)
		ways[i] = all[i*depth*int(w) : end : end]
	}
	return level[0][:w], ways
}

// fits reports whether a way, and the place of its leaf, can be those of a tree.
func (w tree) fits(way []byte, at uint64) bool {
	depth := len(way) / int(w)
	return len(way) == depth*int(w) && depth <= treeDepth && at < 1<<depth
}

// root follows a way that fits from a leaf to the root.
func (w tree) root(leaf node, way []byte, at uint64) []byte {
	for d := 0; len(way) > 0; d, way = d+1, way[w:] {
		var beside node
		copy(beside[:], way[:w])
		if at>>d&1 == 0 {
			leaf = w.join(&leaf, &beside)
		} else {
			leaf = w.join(&beside, &leaf)
		}
	}
	return leaf[:w]
}
