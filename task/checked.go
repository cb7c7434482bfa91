package task

import "crypto/ed25519"

// mostChecked bounds the signatures that Checked remembers, of some 200 bytes each: it forgets all
// when there are more. Signatures that are for several come close to each other.
const mostChecked = 1024

// Checked remembers signatures that were found good, of what is signed together, so that each is looked at once
// for all that it is for. It remembers nothing of what was signed alone, nor of what was found bad. The zero
// value is ready for use by one goroutine; nil remembers nothing.
type Checked struct {
	good map[checked]struct{}
}

// checked is a good signature: of a key, over a root.
type checked struct {
	key       [ed25519.PublicKeySize]byte
	signature [ed25519.SignatureSize]byte
	message   [maxTogether]byte // domain and root, then zeros
	length    int
}

// maxTogether is as long as a domain and the root of a tree are together, at most, in bytes.
const maxTogether = 48

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
	if c == nil || len(signature) != ed25519.SignatureSize || len(message) > maxTogether {
		return ed25519.Verify(key, message, signature)
	}
	of := checked{key: [ed25519.PublicKeySize]byte(key), signature: [ed25519.SignatureSize]byte(signature),
		length: len(message)}
	copy(of.message[:], message)
	if _, known := c.good[of]; known {
		return true
	}
	if !ed25519.Verify(key, message, signature) {
		return false
	}
	if c.good == nil || len(c.good) >= mostChecked {
		c.good = map[checked]struct{}{}
	}
	c.good[of] = struct{}{}
	return true
}
