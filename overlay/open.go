package overlay

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"math"
	"time"
)

// Bounds of an advert. Whatever is beyond them is refused unread or unheeded.
const (
	MaxAdvertBytes = 4096             // encoded
	MaxAdvertLife  = 10 * time.Minute // from Issued to Expires: a silent member is forgotten after it
	MaxAddrs       = 16               // more than any real host announces
	MaxAddrBytes   = 256              // a relayed circuit address is about 130 bytes
	MaxVersion     = 64               // bytes
	MaxSlots       = 4096             // beyond any machine's cores
	MaxMemory      = int64(1) << 50   // bytes; a pebibyte
	MaxSpeed       = 1e6              // times the reference core

	// MaxSkew is how far ahead of ours a member's clock may be.
	MaxSkew = time.Minute
)

// ErrExpired is returned by OpenAdvert for an advert whose time is over.
var ErrExpired = errors.New("overlay: advert has expired")

// Sign signs the advert as Peer, whose key it must be. Change nothing after.
func (a *Advert) Sign(key ed25519.PrivateKey) error {
	if err := a.validate(); err != nil {
		return err
	}
	sig, err := sign("advert", a.unsigned(), a.Peer, key)
	if err != nil {
		return err
	}
	a.Signature = sig
	return nil
}

// Encode returns the canonical bytes that OpenAdvert reads, or an error when
// they are more than MaxAdvertBytes.
func (a *Advert) Encode() ([]byte, error) {
	b, err := encoder.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding advert: %w", err)
	}
	if len(b) > MaxAdvertBytes {
		return nil, fmt.Errorf("overlay: advert has %d bytes, at most %d: announce fewer addresses", len(b), MaxAdvertBytes)
	}
	return b, nil
}

// OpenAdvert decodes and checks an advert that arrived: its size before
// anything else, then the bounds of every field, its times against now, and
// both signatures, the advert's and its manifest's. Of an advert refused
// nothing is returned. It keeps no reference to b.
func OpenAdvert(b []byte, now time.Time) (Advert, error) {
	if len(b) > MaxAdvertBytes {
		return Advert{}, fmt.Errorf("overlay: advert has %d bytes, at most %d", len(b), MaxAdvertBytes)
	}
	var a Advert
	if err := decoder.Unmarshal(b, &a); err != nil {
		return Advert{}, fmt.Errorf("overlay: decoding advert: %w", err)
	}
	if err := a.check(now); err != nil {
		return Advert{}, err
	}
	return a, nil
}

func (a *Advert) check(now time.Time) error {
	if err := a.validate(); err != nil {
		return err
	}
	if a.Issued.After(now.Add(MaxSkew)) {
		return fmt.Errorf("overlay: advert of %s was issued %v in the future: one of the two clocks is wrong", a.Peer, a.Issued.Sub(now))
	}
	if !a.Expires.After(now) {
		return ErrExpired
	}
	if err := verify("advert", a.unsigned(), a.Peer, a.Signature); err != nil {
		return err
	}
	return a.Manifest.Verify()
}

func (a *Advert) unsigned() Advert {
	u := *a
	u.Signature = nil
	return u
}

// validate checks everything that needs neither a clock nor a key.
func (a *Advert) validate() error {
	if err := a.validateOffer(); err != nil {
		return err
	}
	switch {
	case a.Overlay == "" || len(a.Overlay) > MaxName:
		return fmt.Errorf("overlay: advert's overlay name has %d bytes, want 1 to %d", len(a.Overlay), MaxName)
	case a.Manifest.Name != a.Overlay:
		return fmt.Errorf("overlay: advert for %q carries the manifest of %q", a.Overlay, a.Manifest.Name)
	case !plausible(a.Issued) || !plausible(a.Expires):
		return errors.New("overlay: advert has no plausible times")
	case !a.Expires.After(a.Issued) || a.Expires.Sub(a.Issued) > MaxAdvertLife:
		return fmt.Errorf("overlay: advert lives %v, want more than 0 and at most %v", a.Expires.Sub(a.Issued), MaxAdvertLife)
	case len(a.Version) > MaxVersion:
		return fmt.Errorf("overlay: advert's version has %d bytes, at most %d", len(a.Version), MaxVersion)
	case len(a.Addrs) > MaxAddrs:
		return fmt.Errorf("overlay: advert has %d addresses, at most %d", len(a.Addrs), MaxAddrs)
	}
	for _, addr := range a.Addrs {
		if addr == "" || len(addr) > MaxAddrBytes {
			return fmt.Errorf("overlay: an address of the advert has %d bytes, want 1 to %d", len(addr), MaxAddrBytes)
		}
	}
	return nil
}

// validateOffer checks what the member says it lends.
func (a *Advert) validateOffer() error {
	switch {
	case !a.State.Valid():
		return fmt.Errorf("overlay: advert has unknown state %d", a.State)
	case a.Slots < 0 || a.Slots > MaxSlots:
		return fmt.Errorf("overlay: advert offers %d slots, want 0 to %d", a.Slots, MaxSlots)
	case a.Memory < 0 || a.Memory > MaxMemory:
		return fmt.Errorf("overlay: advert offers %d bytes of memory, want 0 to %d", a.Memory, MaxMemory)
	case math.IsNaN(a.Speed) || a.Speed < 0 || a.Speed > MaxSpeed:
		return fmt.Errorf("overlay: advert's speed is %v, want 0 to %v", a.Speed, float64(MaxSpeed))
	}
	return nil
}
