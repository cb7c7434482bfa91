package overlay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"godwit/task"
)

// Bounds of an advert. Whatever is beyond them is refused unread or unheeded.
const (
	MaxAdvertBytes = 4096           // encoded
	MaxAdvertLife  = time.Hour      // from Issued to Expires: a silent member is forgotten after it
	MaxAddrs       = 16             // more than any real host announces
	MaxAddrBytes   = 256            // a relayed circuit address is about 130 bytes
	MaxVersion     = 64             // bytes
	MaxSite        = 64             // bytes
	MaxSlots       = 4096           // beyond any machine's cores
	MaxMemory      = int64(1) << 50 // bytes; a pebibyte
	MaxSpeed       = 1e6            // times the reference core
	MaxRecord      = 96             // bytes of a survival record
	MaxSpells      = 96             // bytes of the last spells
	MaxPast        = 512            // bytes of an older part of the history

	// MaxSkew is how far ahead of ours a member's clock may be.
	MaxSkew = time.Minute
)

// ErrExpired is returned by OpenAdvert for an advert whose time is over.
var ErrExpired = errors.New("overlay: advert has expired")

// ErrFuture is returned by OpenAdvert for an advert issued more than MaxSkew
// from now.
var ErrFuture = errors.New("overlay: advert is from the future")

// Sign signs the advert as Peer, whose key it must be, after rounding what
// travels rounded. Change nothing after.
func (a *Advert) Sign(key ed25519.PrivateKey) error {
	a.Issued, a.Expires = a.Issued.UTC().Truncate(time.Millisecond), a.Expires.UTC().Truncate(time.Millisecond)
	a.Until = a.Until.UTC().Truncate(time.Second)
	a.Speed = math.Round(a.Speed*speedUnit) / speedUnit
	if err := a.validate(); err != nil {
		return err
	}
	w, err := a.wire()
	if err != nil {
		return fmt.Errorf("overlay: signing advert: %w", err)
	}
	w.Signature = nil
	a.Signature, err = sign("advert", w, a.Peer, key)
	return err
}

// Encode returns the canonical bytes that OpenAdvert reads, or an error when
// they are more than MaxAdvertBytes.
func (a *Advert) Encode() ([]byte, error) {
	w, err := a.wire()
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding advert: %w", err)
	}
	b, err := encoder.Marshal(w)
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
// its signature. Whether the overlay admits its peer is for the overlay's
// manifest to say: see Manifest.Admits. Of an advert refused nothing is returned.
// It keeps no reference to b.
func OpenAdvert(b []byte, now time.Time) (Advert, error) {
	if len(b) > MaxAdvertBytes {
		return Advert{}, fmt.Errorf("overlay: advert has %d bytes, at most %d", len(b), MaxAdvertBytes)
	}
	var w advertWire
	if err := decoder.Unmarshal(b, &w); err != nil {
		return Advert{}, fmt.Errorf("overlay: decoding advert: %w", err)
	}
	a, err := w.advert()
	if err != nil {
		return Advert{}, fmt.Errorf("overlay: decoding advert: %w", err)
	}
	if again, err := encoder.Marshal(w); err != nil || !bytes.Equal(again, b) {
		return Advert{}, errors.New("overlay: decoding advert: its bytes are not the canonical ones")
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
		return fmt.Errorf("%w: %s issued it %v from now, one of the two clocks is wrong", ErrFuture, a.Peer,
			a.Issued.Sub(now))
	}
	if !a.Expires.After(now) {
		return ErrExpired
	}
	w, err := a.wire()
	if err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	w.Signature = nil
	if err := verify("advert", w, a.Peer, a.Signature); err != nil || a.Division.IsZero() {
		return err
	}
	return a.Division.verify(a.Overlay, a.Bits-1)
}

// validate checks everything that needs neither a clock nor a key.
func (a *Advert) validate() error {
	if err := a.validateOffer(); err != nil {
		return err
	}
	switch {
	case a.Rules > MaxManifestVersion:
		return fmt.Errorf("overlay: advert follows version %d of the manifest, at most %d", a.Rules, MaxManifestVersion)
	case len(a.Pass) > MaxPass:
		return fmt.Errorf("overlay: advert's pass has %d bytes, at most %d", len(a.Pass), MaxPass)
	case !plausible(a.Issued) || !plausible(a.Expires):
		return errors.New("overlay: advert has no plausible times")
	case !a.Expires.After(a.Issued) || a.Expires.Sub(a.Issued) > MaxAdvertLife:
		return fmt.Errorf("overlay: advert lives %v, want more than 0 and at most %v", a.Expires.Sub(a.Issued), MaxAdvertLife)
	case len(a.Version) > MaxVersion || task.Printable(a.Version, MaxVersion) != a.Version:
		return fmt.Errorf("overlay: advert's version has %d bytes, at most %d, or characters that do not print",
			len(a.Version), MaxVersion)
	case len(a.Site) > MaxSite || strings.ContainsFunc(a.Site, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("overlay: advert's site has %d bytes, at most %d, or characters that do not print", len(a.Site),
			MaxSite)
	case len(a.Group) > MaxGroup-1 || len(a.Group) > 0 && a.Epoch == 0:
		return fmt.Errorf("overlay: advert names %d coordinators beside its own in epoch %d, at most %d and as a leader",
			len(a.Group), a.Epoch, MaxGroup-1)
	case a.Bits > MaxCellBits:
		return fmt.Errorf("overlay: advert is of a cell of %d bits, at most %d", a.Bits, MaxCellBits)
	case len(a.Addrs) > MaxAddrs:
		return fmt.Errorf("overlay: advert has %d addresses, at most %d", len(a.Addrs), MaxAddrs)
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
	case a.Free < 0 || a.Free > a.Slots:
		return fmt.Errorf("overlay: advert has %d of %d slots free", a.Free, a.Slots)
	case a.Reach > ReachPrivate:
		return fmt.Errorf("overlay: advert has unknown reachability %d", a.Reach)
	case !a.Until.IsZero() && !plausible(a.Until):
		return errors.New("overlay: advert has no plausible time of leaving")
	case len(a.Record) > MaxRecord:
		return fmt.Errorf("overlay: advert's survival record has %d bytes, at most %d", len(a.Record), MaxRecord)
	case len(a.Spells) > MaxSpells:
		return fmt.Errorf("overlay: advert's last spells have %d bytes, at most %d", len(a.Spells), MaxSpells)
	case len(a.Past) > MaxPast:
		return fmt.Errorf("overlay: advert's part of its history has %d bytes, at most %d", len(a.Past), MaxPast)
	case math.IsNaN(a.Speed) || a.Speed < 0 || a.Speed > MaxSpeed:
		return fmt.Errorf("overlay: advert's speed is %v, want 0 to %v", a.Speed, float64(MaxSpeed))
	}
	return nil
}
