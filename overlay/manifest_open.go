package overlay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"godwit/task"
)

// manifestWire is a manifest as it travels and as it is signed. Peers are the 32
// bytes of their keys, IDs 32 bytes of hash, times Unix milliseconds.
type manifestWire struct {
	Name         string    `cbor:"1,keyasint"`
	Founder      []byte    `cbor:"2,keyasint,omitempty"`
	Founded      int64     `cbor:"3,keyasint,omitempty"`
	Origin       []byte    `cbor:"4,keyasint,omitempty"`
	Version      uint64    `cbor:"5,keyasint,omitempty"`
	Placement    string    `cbor:"6,keyasint,omitempty"`
	Migration    string    `cbor:"7,keyasint,omitempty"`
	Coordinators int       `cbor:"8,keyasint,omitempty"`
	Replicas     int       `cbor:"9,keyasint,omitempty"`
	Admission    Admission `cbor:"10,keyasint,omitempty"`
	Allowed      [][]byte  `cbor:"11,keyasint,omitempty"`
	InvitesFrom  int64     `cbor:"12,keyasint,omitempty"`
	Signature    []byte    `cbor:"13,keyasint,omitempty"`
	Fairness     string    `cbor:"14,keyasint,omitempty"`
	Chunking     string    `cbor:"15,keyasint,omitempty"`
	Trusted      [][]byte  `cbor:"16,keyasint,omitempty"`
	// Edition is namedEdition in pools that go by their name, else 0.
	Edition    uint `cbor:"17,keyasint,omitempty"`
	Priorities bool `cbor:"18,keyasint,omitempty"`
	// Audits and Wrong are those of the floor of checks.
	Audits uint32 `cbor:"19,keyasint,omitempty"`
	Wrong  uint32 `cbor:"20,keyasint,omitempty"`

	Undivided bool `cbor:"21,keyasint,omitempty"`

	Predictor string `cbor:"22,keyasint,omitempty"`
	SlotsEach int    `cbor:"23,keyasint,omitempty"`
}

// namedEdition parts the open pools of programs that can lead one another from those that
// cannot. It is 2 since claims to lead are judged: the pools of before, of no edition,
// could be ended by anybody for good.
const namedEdition = 2

// Sign signs the manifest as its founder, whose key it must be, after rounding
// its times. Change nothing after. A pool that goes by its name is not signed.
func (m *Manifest) Sign(key ed25519.PrivateKey) error {
	m.Founded, m.InvitesFrom = round(m.Founded), round(m.InvitesFrom)
	if err := m.validate(); err != nil {
		return err
	}
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

// OpenManifest decodes and verifies a manifest: its size first, then its bounds,
// that its bytes are the canonical ones, and its founder's signature. One
// without a founder must be what Named returns. It keeps no reference to b.
func OpenManifest(b []byte) (Manifest, error) {
	if len(b) > MaxManifestBytes {
		return Manifest{}, fmt.Errorf("overlay: manifest has %d bytes, at most %d", len(b), MaxManifestBytes)
	}
	var w manifestWire
	if err := manifestDecoder.Unmarshal(b, &w); err != nil {
		return Manifest{}, fmt.Errorf("overlay: decoding manifest: %w", err)
	}
	m, err := w.manifest()
	if err != nil {
		return Manifest{}, fmt.Errorf("overlay: decoding manifest: %w", err)
	}
	if err := m.Verify(); err != nil {
		return Manifest{}, err
	}
	if again, err := m.Encode(); err != nil || !bytes.Equal(again, b) {
		return Manifest{}, errors.New("overlay: decoding manifest: its bytes are not the canonical ones")
	}
	return m, nil
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
	if m.Founder == "" {
		b, err := encoder.Marshal(w)
		if err != nil {
			return fmt.Errorf("overlay: verifying manifest: %w", err)
		}
		plain, err := encoder.Marshal(manifestWire{Name: m.Name, Edition: namedEdition})
		if err != nil || !bytes.Equal(b, plain) {
			return fmt.Errorf("overlay: manifest of %q has rules, but no founder who signed them", m.Name)
		}
		return nil
	}
	w.Signature = nil
	return verify("manifest", w, m.Founder, m.Signature)
}

func (m *Manifest) wire() (manifestWire, error) {
	w := manifestWire{
		Name: m.Name, Founded: millis(m.Founded), Version: m.Version, Placement: m.Placement, Migration: m.Migration,
		Coordinators: m.Coordinators, Replicas: m.Replicas, Admission: m.Admission,
		InvitesFrom: millis(m.InvitesFrom), Signature: m.Signature, Fairness: m.Fairness, Chunking: m.Chunking,
		Priorities: m.Priorities, Undivided: m.Undivided, Predictor: m.Predictor, SlotsEach: m.SlotsEach,
	}
	if v := m.Checks; v != nil {
		w.Audits, w.Wrong = v.Audits, v.Wrong
	}
	var err error
	if m.Founder != "" {
		if w.Founder, err = m.Founder.PublicKey(); err != nil {
			return w, fmt.Errorf("manifest's founder: %w", err)
		}
	}
	if m.Founder == "" {
		w.Edition = namedEdition
	}
	if w.Trusted, err = keysOf(m.Trusted); err != nil {
		return w, fmt.Errorf("manifest: %w", err)
	}
	if m.Origin != "" {
		if w.Origin, err = digestOf(m.Origin); err != nil {
			return w, fmt.Errorf("manifest's origin: %w", err)
		}
	}
	if w.Allowed, err = keysOf(m.Allowed); err != nil {
		return w, fmt.Errorf("manifest's allow list: %w", err)
	}
	return w, nil
}

// manifest is the other side of wire. The result shares w's slices.
func (w *manifestWire) manifest() (Manifest, error) {
	m := Manifest{
		Name: w.Name, Founded: fromMillis(w.Founded), Version: w.Version, Placement: w.Placement, Migration: w.Migration,
		Coordinators: w.Coordinators, Replicas: w.Replicas, Admission: w.Admission,
		InvitesFrom: fromMillis(w.InvitesFrom), Signature: w.Signature, Fairness: w.Fairness, Chunking: w.Chunking,
		Priorities: w.Priorities, Undivided: w.Undivided, Predictor: w.Predictor, SlotsEach: w.SlotsEach,
	}
	if w.Audits > 0 || w.Wrong > 0 {
		m.Checks = &task.Verify{Audits: w.Audits, Wrong: w.Wrong}
	}
	var err error
	if len(w.Founder) > 0 {
		if m.Founder, err = peerOf(w.Founder); err != nil {
			return m, fmt.Errorf("manifest's founder: %w", err)
		}
	}
	if len(w.Origin) > 0 {
		if m.Origin, err = idOf(w.Origin); err != nil {
			return m, fmt.Errorf("manifest's origin: %w", err)
		}
	}
	if m.Trusted, err = peersOf(w.Trusted, MaxTrusted); err != nil {
		return m, fmt.Errorf("manifest: %w", err)
	}
	if m.Allowed, err = peersOf(w.Allowed, MaxAllowed); err != nil {
		return m, fmt.Errorf("manifest's allow list: %w", err)
	}
	if m.Founder == "" && w.Edition != namedEdition {
		return m, fmt.Errorf("the pool %q is of edition %d, this program's is %d: update the older of the two programs",
			task.ClipMessage(m.Name), w.Edition, namedEdition)
	}
	return m, nil
}

// round keeps of a time what travels.
func round(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// millis is a time as it travels; 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromMillis is the other side of millis.
func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
