package task

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
)

// Receipts are signed together: one signature is for as many leases as a leader gives in one
// moment. It covers the root of a Merkle tree over them, with a power of two of leaves, of which
// those that are too many are zero; each receipt has the nodes that lead from its own leaf there.
const (
	// batchDepth bounds the levels of a tree: a signature takes as long as the hashing of some
	// twenty leaves, and each level adds nodeBytes to a receipt wherever it goes.
	batchDepth = 4
	batchSize  = 1 << batchDepth
	// nodeBytes is how much of a SHA-256 a node has: nobody finds another leaf for a node in less
	// than 2^128 tries. Two leaves of one node, which 2^64 find, are of use to nobody: who can
	// choose both is the leader, who may sign both.
	nodeBytes = 16
)

type node [nodeBytes]byte

// A Leased is a lease whose receipt is to be signed.
type Leased struct {
	Task   TaskID
	Worker PeerID
	// Receipt is the receipt, with its Leader; SignReceipts fills in the Signature, Path and At.
	Receipt *Receipt
}

// SignReceipts signs receipts, as many with one signature as may be.
func SignReceipts(key ed25519.PrivateKey, leases []Leased) error {
	for len(leases) > 0 {
		n := min(len(leases), batchSize)
		if err := signBatch(key, leases[:n]); err != nil {
			return fmt.Errorf("signing leases' receipts: %w", err)
		}
		leases = leases[n:]
	}
	return nil
}

func signBatch(key ed25519.PrivateKey, leases []Leased) error {
	depth := 0
	for 1<<depth < len(leases) {
		depth++
	}
	level := make([]node, 1<<depth)
	for i, l := range leases {
		leaf, err := l.Receipt.leaf(l.Task, l.Worker)
		if err != nil {
			return err
		}
		level[i] = leaf
		l.Receipt.At, l.Receipt.Path = uint64(i), make([]byte, 0, depth*nodeBytes)
	}
	for d := 0; len(level) > 1; d++ {
		for i, l := range leases {
			beside := level[i>>d^1]
			l.Receipt.Path = append(l.Receipt.Path, beside[:]...)
		}
		for i := range len(level) / 2 {
			level[i] = join(level[2*i], level[2*i+1])
		}
		level = level[:len(level)/2]
	}
	signature := sign(key, receiptDomain, level[0][:])
	for _, l := range leases {
		l.Receipt.Signature = signature
		if depth == 0 {
			l.Receipt.Path = nil
		}
	}
	return nil
}

// leaf is that of a receipt, which depends on neither Signature, Path nor At.
func (r *Receipt) leaf(id TaskID, worker PeerID) (node, error) {
	b, err := r.body(id, worker)
	if err != nil {
		return node{}, err
	}
	sum := sha256.Sum256(append([]byte{leafMark}, b...))
	return node(sum[:]), nil
}

// rootFrom follows the way of a valid receipt from its leaf to the root.
func (r *Receipt) rootFrom(at node) node {
	for d, path := 0, r.Path; len(path) > 0; d, path = d+1, path[nodeBytes:] {
		if beside := node(path[:nodeBytes]); r.At>>d&1 == 0 {
			at = join(at, beside)
		} else {
			at = join(beside, at)
		}
	}
	return at
}

func join(left, right node) node {
	b := make([]byte, 0, 1+2*nodeBytes)
	b = append(append(append(b, nodeMark), left[:]...), right[:]...)
	sum := sha256.Sum256(b)
	return node(sum[:])
}
