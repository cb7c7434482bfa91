package task

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
)

// receiptDomain keeps a receipt's signature from meaning anything else.
const receiptDomain = "godwit lease 2\x00"

// A Receipt is a leader's signed word that it gave a worker the lease of a task. The worker
// shows it with what came of the lease, to whoever leads then and to the submitter: nobody
// else can make one, so nobody is believed about a task that was never his.
type Receipt struct {
	Leader PeerID `cbor:"1,keyasint"`
	Epoch  uint64 `cbor:"2,keyasint"` // that the leader leads in
	Seq    uint64 `cbor:"3,keyasint"` // of the attempt, in that epoch
	Issued int64  `cbor:"4,keyasint"` // Unix milliseconds by the leader's clock
	From   CID    `cbor:"5,keyasint"` // the state that the lease begins from; "" for none
	// Signature is the leader's over the root of the tree in which all of this, the task and the
	// worker are a leaf: see SignReceipts.
	Signature []byte `cbor:"6,keyasint"`
	// Since is when the first lease was given of those that this one goes on with, as Issued;
	// 0 where it is the first. See Begun.
	Since int64 `cbor:"7,keyasint,omitempty"`
	// Path are the nodes beside the way from the leaf to the root, the lowest first, of 16 bytes
	// each, at most treeDepth; empty for a receipt that is signed alone. At is the leaf's place.
	Path []byte `cbor:"8,keyasint,omitempty"`
	At   uint64 `cbor:"9,keyasint,omitempty"`
}

// NewReceipt signs that the leader, whose key it is, gave worker the lease of a task.
func NewReceipt(key ed25519.PrivateKey, leader PeerID, id TaskID, worker PeerID, r Receipt) (*Receipt, error) {
	r.Leader = leader
	if err := SignReceipts(key, []Leased{{id, worker, &r}}); err != nil {
		return nil, err
	}
	return &r, nil
}

// Verify checks that Leader signed the receipt, for that task and that worker. Whether that
// peer may lead is for the caller to know.
func (r *Receipt) Verify(id TaskID, worker PeerID) error { return r.verify(id, worker, nil) }

func (r *Receipt) verify(id TaskID, worker PeerID, c *Checked) error {
	if err := r.Valid(); err != nil {
		return fmt.Errorf("verifying a lease's receipt: %w", err)
	}
	key, err := r.Leader.PublicKey()
	if err != nil {
		return fmt.Errorf("verifying a lease's receipt: %w", err)
	}
	leaf, err := r.leaf(id, worker)
	if err != nil {
		return fmt.Errorf("verifying a lease's receipt: %w", err)
	}
	if !c.verify(key, receiptDomain, receiptTree.root(leaf, r.Path, r.At), r.Signature) {
		return fmt.Errorf("verifying the receipt of a lease by %s: %w", r.Leader, ErrSignature)
	}
	return nil
}

// Valid checks everything of a receipt but who signed it.
func (r *Receipt) Valid() error {
	if r.From != "" && !r.From.Valid() || r.Epoch == 0 || r.Issued < 0 || r.Since < 0 {
		return errors.New("the receipt is out of bounds")
	}
	if !receiptTree.fits(r.Path, r.At) {
		return errors.New("the receipt's way to what is signed is out of bounds")
	}
	return nil
}

// Equal reports whether two receipts are the same, signature and all. None is the same as nil,
// nil included.
func (r *Receipt) Equal(o *Receipt) bool {
	return r != nil && o != nil && r.Leader == o.Leader && r.Epoch == o.Epoch && r.Seq == o.Seq && r.Issued == o.Issued &&
		r.From == o.From && r.Since == o.Since && r.At == o.At &&
		bytes.Equal(r.Path, o.Path) && bytes.Equal(r.Signature, o.Signature)
}

// body is what a leaf is the hash of.
func (r *Receipt) body(id TaskID, worker PeerID) ([]byte, error) {
	return Encode(struct {
		_       struct{} `cbor:",toarray"`
		Job     JobID
		Index   uint64
		Worker  PeerID
		Receipt Receipt
	}{Job: id.Job, Index: id.Index, Worker: worker, Receipt: Receipt{
		Leader: r.Leader, Epoch: r.Epoch, Seq: r.Seq, Issued: r.Issued, From: r.From, Since: r.Since,
	}})
}
