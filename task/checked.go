package task

import "crypto/ed25519"

// Checked remembers signatures that were found good, of what is signed together, so that each is looked at once
// for all that it is for. It remembers nothing of what was signed alone, nor of what was found bad. The zero
// value is ready for use by one goroutine; nil remembers nothing.
type Checked struct {
	good Good
}

// Result is r.Verify.
func (c *Checked) Result(r *Result) error {
	if len(r.Path) == 0 {
		c = nil
	}
	return r.verify(c)
}

// Receipt is r.Verify.
func (c *Checked) Receipt(r *Receipt, id TaskID, worker PeerID) error {
	if len(r.Path) == 0 {
		c = nil
	}
	return r.verify(id, worker, c)
}

func (c *Checked) verify(key ed25519.PublicKey, domain string, root, signature []byte) bool {
	return c.signed(key, signed(domain, root), signature)
}

// signed is ed25519.Verify for keys of any length.
func (c *Checked) signed(key ed25519.PublicKey, message, signature []byte) bool {
	if len(key) != ed25519.PublicKeySize {
		return false
	}
	of, short := SignedBy(key, message, signature)
	if c == nil || !short {
		return ed25519.Verify(key, message, signature)
	}
	if c.good.Has(of) {
		return true
	}
	if !ed25519.Verify(key, message, signature) {
		return false
	}
	c.good.Note(of)
	return true
}
