package overlay

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// MaxName bounds the name of an overlay or a placement policy, in bytes.
const MaxName = 64

// ID names the manifest: the hash of its canonical bytes, signature included,
// in hexadecimal. Two nodes that founded an overlay of the same name have two
// manifests with two IDs.
func (m *Manifest) ID() string {
	b, err := encoder.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("overlay: a manifest always encodes: %v", err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Sign signs the manifest as its founder. The key must be Founder's.
func (m *Manifest) Sign(key ed25519.PrivateKey) error {
	if err := m.validate(); err != nil {
		return err
	}
	sig, err := sign("manifest", m.unsigned(), m.Founder, key)
	if err != nil {
		return err
	}
	m.Signature = sig
	return nil
}

// Verify checks the manifest's bounds and its founder's signature.
func (m *Manifest) Verify() error {
	if err := m.validate(); err != nil {
		return err
	}
	return verify("manifest", m.unsigned(), m.Founder, m.Signature)
}

// Better says whether m is to be followed rather than o: the one founded
// first, then the one of the smaller founder ID, then the smaller manifest ID,
// so that it orders all manifests and every member picks the same one. A zero
// manifest is worse than any other.
func (m *Manifest) Better(o *Manifest) bool {
	switch {
	case m.IsZero() || o.IsZero():
		return !m.IsZero()
	case !m.Founded.Equal(o.Founded):
		return m.Founded.Before(o.Founded)
	case m.Founder != o.Founder:
		return m.Founder < o.Founder
	}
	return m.ID() < o.ID()
}

// IsZero says that there is no manifest.
func (m *Manifest) IsZero() bool { return m.Founder == "" }

func (m *Manifest) unsigned() Manifest {
	u := *m
	u.Signature = nil
	return u
}

func (m *Manifest) validate() error {
	switch {
	case m.Name == "" || len(m.Name) > MaxName:
		return fmt.Errorf("overlay: manifest name has %d bytes, want 1 to %d", len(m.Name), MaxName)
	case len(m.Placement) > MaxName:
		return fmt.Errorf("overlay: placement policy's name has %d bytes, at most %d", len(m.Placement), MaxName)
	case !plausible(m.Founded):
		return errors.New("overlay: manifest has no plausible founding time")
	}
	return nil
}

// plausible keeps times within what canonical CBOR writes (years of four
// digits) and refuses the zero time.
func plausible(t time.Time) bool {
	y := t.UTC().Year()
	return y >= 1970 && y <= 9998
}
