package overlay

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"godwit/task"
)

// MaxName bounds the name of an overlay or a placement policy, in bytes.
const MaxName = task.MaxName

// ID names the manifest: the hash of its canonical bytes, signature included,
// in hexadecimal; "" for the zero manifest. Two nodes that founded an overlay of the same name have two
// manifests with two IDs.
func (m *Manifest) ID() string {
	if m.IsZero() {
		return ""
	}
	b, err := m.Encode()
	if err != nil {
		return "" // signed by nobody: not one that Verify accepts
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Sign signs the manifest as its founder. The key must be Founder's.
func (m *Manifest) Sign(key ed25519.PrivateKey) error {
	if err := m.validate(); err != nil {
		return err
	}
	m.Founded = m.Founded.UTC().Truncate(time.Millisecond)
	w, err := m.wire()
	if err != nil {
		return fmt.Errorf("overlay: signing manifest: %w", err)
	}
	w.Signature = nil
	m.Signature, err = sign("manifest", w, m.Founder, key)
	return err
}

// Encode returns the manifest's canonical bytes, which OpenManifest reads.
func (m *Manifest) Encode() ([]byte, error) {
	w, err := m.wire()
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding manifest: %w", err)
	}
	b, err := encoder.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding manifest: %w", err)
	}
	return b, nil
}

// OpenManifest decodes and verifies a manifest: its size first, then its bounds
// and its founder's signature.
func OpenManifest(b []byte) (Manifest, error) {
	if len(b) > MaxAdvertBytes {
		return Manifest{}, fmt.Errorf("overlay: manifest has %d bytes, at most %d", len(b), MaxAdvertBytes)
	}
	var w manifestWire
	if err := decoder.Unmarshal(b, &w); err != nil {
		return Manifest{}, fmt.Errorf("overlay: decoding manifest: %w", err)
	}
	m, err := w.manifest()
	if err != nil {
		return Manifest{}, fmt.Errorf("overlay: decoding manifest: %w", err)
	}
	return m, m.Verify()
}

// Verify checks the manifest's bounds and its founder's signature.
func (m *Manifest) Verify() error {
	if err := m.validate(); err != nil {
		return err
	}
	w, err := m.wire()
	if err != nil {
		return fmt.Errorf("overlay: verifying manifest: %w", err)
	}
	w.Signature = nil
	return verify("manifest", w, m.Founder, m.Signature)
}

// Better says whether m is to be followed rather than o: the one founded
// first, then the one of the smaller founder ID, then by what is left to differ,
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
	return cmp.Or(strings.Compare(m.Placement, o.Placement), bytes.Compare(m.Signature, o.Signature)) < 0
}

// IsZero says that there is no manifest.
func (m *Manifest) IsZero() bool { return m.Founder == "" }

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
