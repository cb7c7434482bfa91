package task

import (
	"crypto/ed25519"
	"fmt"
)

// receiptTree is that of receipts that are signed together: one signature is for as many leases as a
// leader gives in one moment. Nobody finds another leaf for a node of so many bytes in less than 2^128
// tries. Two leaves of one node, which 2^64 find, are of use to nobody: who can choose both is the
// leader, who may sign both.
const receiptTree tree = 16

// A Leased is a lease whose receipt is to be signed.
type Leased struct {
	Task   TaskID
	Worker PeerID
	// Receipt is the receipt, with its Leader; SignReceipts fills in the Signature, Path and At.
	Receipt *Receipt
}

// SignReceipts signs receipts, as many with one signature as may be.
func SignReceipts(key ed25519.PrivateKey, given []Leased) error {
	for len(given) > 0 {
		n := min(len(given), treeSize)
		if err := signBatch(key, given[:n]); err != nil {
			return fmt.Errorf("signing leases' receipts: %w", err)
		}
		given = given[n:]
	}
	return nil
}

func signBatch(key ed25519.PrivateKey, given []Leased) error {
	leaves := make([]node, len(given))
	for i, l := range given {
		leaf, err := l.Receipt.leaf(l.Task, l.Worker)
		if err != nil {
			return err
		}
		leaves[i] = leaf
	}
	root, ways := receiptTree.ways(leaves)
	signature := sign(key, receiptDomain, root)
	for i, l := range given {
		l.Receipt.Signature, l.Receipt.Path, l.Receipt.At = signature, ways[i], uint64(i)
	}
	return nil
}

// leaf is that of a receipt, which depends on neither Signature, Path nor At.
func (r *Receipt) leaf(id TaskID, worker PeerID) (node, error) {
	b, err := r.body(id, worker)
	if err != nil {
		return node{}, err
	}
	return receiptTree.leaf(b), nil
}
