package overlay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/task"
)

// MaxPass bounds a pass, in bytes; one has about 190.
const MaxPass = 256

// ErrNotAdmitted is wrapped by what Admits returns for a peer that may not be a
// member.
var ErrNotAdmitted = errors.New("overlay: not admitted")

// An invitation is what a founder signs: who has the ticket's key may bring
// peers into the overlay, as long as it holds.
type invitation struct {
	Overlay []byte `cbor:"1,keyasint"` // its ID's hash
	Ticket  []byte `cbor:"2,keyasint"` // the ticket's public key
	Issued  int64  `cbor:"3,keyasint"` // Unix ms
	Expires int64  `cbor:"4,keyasint"` // Unix ms
}

// admittance is what the key of a ticket signs: that a peer came with it.
type admittance struct {
	Overlay []byte `cbor:"1,keyasint"`
	Peer    []byte `cbor:"2,keyasint"` // its public key
}

// passWire is a pass as adverts carry it. The overlay and the peer that its
// signatures are about are the advert's.
type passWire struct {
	Ticket  []byte `cbor:"1,keyasint"` // the ticket's public key
	Issued  int64  `cbor:"2,keyasint"`
	Expires int64  `cbor:"3,keyasint"`
	Founder []byte `cbor:"4,keyasint"` // its signature over the invitation
	Peer    []byte `cbor:"5,keyasint"` // the ticket key's over the admittance
}

// Admits returns nil if a peer may be a member at now. For an Invited overlay
// pass is what Ticket.Pass returned, as the peer's advert carries it; for others
// it is not looked at. Else the error wraps ErrNotAdmitted and says why. The
// manifest has been verified; its founder is always admitted.
func (m *Manifest) Admits(peer task.PeerID, pass []byte, now time.Time) error {
	if m.Admission == Open || peer == m.Founder && peer != "" {
		return nil
	}
	refuse := func(why error) error { return fmt.Errorf("%w to %q: %s: %w", ErrNotAdmitted, m.Name, peer, why) }
	if m.Admission == Listed {
		if _, found := slices.BinarySearch(m.Allowed, peer); !found {
			return refuse(errors.New("it is not on the founder's list"))
		}
		return nil
	}
	if len(pass) == 0 {
		return refuse(errors.New("it has no invitation"))
	}
	p, err := openPass(pass)
	if err != nil {
		return refuse(err)
	}
	if err := m.honours(fromMillis(p.Issued), fromMillis(p.Expires), now); err != nil {
		return refuse(err)
	}
	if err := m.checkPass(&p, peer); err != nil {
		return refuse(err)
	}
	return nil
}

// honours checks an invitation's times.
func (m *Manifest) honours(issued, expires, now time.Time) error {
	switch {
	case !expires.After(now):
		return fmt.Errorf("the invitation expired on %s", expires.Format(time.RFC3339))
	case issued.After(now.Add(MaxSkew)):
		return fmt.Errorf("the invitation holds only from %s: one of the two clocks is wrong", issued.Format(time.RFC3339))
	case issued.Before(m.InvitesFrom):
		return fmt.Errorf("the invitation is revoked: the founder took back all issued before %s",
			m.InvitesFrom.Format(time.RFC3339))
	}
	return nil
}

// checkPass checks both signatures of a pass.
func (m *Manifest) checkPass(p *passWire, peer task.PeerID) error {
	digest, err := digestOf(m.ID())
	if err != nil {
		return err
	}
	key, err := peer.PublicKey()
	if err != nil {
		return err
	}
	if verify("invitation", invitation{digest, p.Ticket, p.Issued, p.Expires}, m.Founder, p.Founder) != nil {
		return errors.New("the invitation is not one of this overlay's founder")
	}
	if verify("admittance", admittance{digest, key}, task.PeerIDOf(p.Ticket), p.Peer) != nil {
		return errors.New("the pass is another peer's")
	}
	return nil
}

// openPass decodes a pass: its size first, then the sizes of its parts, and that
// its bytes are the canonical ones.
func openPass(b []byte) (passWire, error) {
	var p passWire
	if len(b) > MaxPass {
		return p, fmt.Errorf("its pass has %d bytes, at most %d", len(b), MaxPass)
	}
	if err := decoder.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("its pass is damaged: %w", err)
	}
	if again, err := encoder.Marshal(p); err != nil || !bytes.Equal(again, b) ||
		len(p.Ticket) != ed25519.PublicKeySize || len(p.Founder) != ed25519.SignatureSize ||
		len(p.Peer) != ed25519.SignatureSize ||
		p.Issued <= 0 || p.Expires <= p.Issued || !plausible(fromMillis(p.Expires)) {
		return p, errors.New("its pass is damaged")
	}
	return p, nil
}
