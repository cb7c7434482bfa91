package overlay

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"time"

	"github.com/multiformats/go-multiaddr"

	"godwit/task"
)

// An advert is sent to every member again and again, so its bytes are counted:
// a peer travels as the 32 bytes of its key, an address as a binary multiaddr, a time as Unix milliseconds, an
// end as the milliseconds after the beginning, a speed as hundredths, and an
// overlay's ID as its hash. The manifest is not in it: who lacks the version that
// Rules names asks for it.

// advertWire is an advert as it travels and as it is signed.
type advertWire struct {
	Peer  []byte   `cbor:"1,keyasint"`
	Seq   uint64   `cbor:"2,keyasint"`
	Issue int64    `cbor:"3,keyasint"`
	Life  uint32   `cbor:"4,keyasint"`           // from Issue to Expires
	Addrs [][]byte `cbor:"5,keyasint,omitempty"` // binary multiaddrs

	State  State  `cbor:"6,keyasint,omitempty"`
	Slots  int    `cbor:"7,keyasint,omitempty"`
	Free   int    `cbor:"8,keyasint,omitempty"`
	Memory int64  `cbor:"9,keyasint,omitempty"`
	Speed  uint32 `cbor:"10,keyasint,omitempty"`
	Reach  Reach  `cbor:"11,keyasint,omitempty"`
	Until  int64  `cbor:"12,keyasint,omitempty"` // Unix seconds; 0 not known

	Record []byte `cbor:"13,keyasint,omitempty"`
	Spells []byte `cbor:"14,keyasint,omitempty"`

	Overlay []byte `cbor:"15,keyasint"` // its ID's hash
	Epoch   uint64 `cbor:"16,keyasint,omitempty"`
	Rules   uint64 `cbor:"17,keyasint,omitempty"`
	Pass    []byte `cbor:"18,keyasint,omitempty"`
	Version string `cbor:"19,keyasint,omitempty"`

	Signature []byte `cbor:"20,keyasint"`
	Site      string `cbor:"21,keyasint,omitempty"`

	Group [][]byte `cbor:"22,keyasint,omitempty"`

	Bits uint8 `cbor:"23,keyasint,omitempty"`

	Division *divisionWire `cbor:"24,keyasint,omitempty"`
	Follows  uint64        `cbor:"25,keyasint,omitempty"`
	Past     []byte        `cbor:"26,keyasint,omitempty"`
}

const speedUnit = 100

func (a *Advert) wire() (advertWire, error) {
	peer, err := a.Peer.PublicKey()
	if err != nil {
		return advertWire{}, err
	}
	overlay, err := digestOf(a.Overlay)
	if err != nil {
		return advertWire{}, err
	}
	addrs, err := packAddrs(a.Addrs)
	if err != nil {
		return advertWire{}, err
	}
	group, err := keysOf(a.Group)
	if err != nil {
		return advertWire{}, err
	}
	w := advertWire{
		Peer: peer, Seq: a.Seq, Issue: a.Issued.UnixMilli(), Life: uint32(a.Expires.Sub(a.Issued).Milliseconds()),
		Addrs: addrs,
		State: a.State, Slots: a.Slots, Free: a.Free, Memory: a.Memory, Speed: uint32(math.Round(a.Speed * speedUnit)),
		Reach:  a.Reach,
		Record: a.Record, Spells: a.Spells, Overlay: overlay, Epoch: a.Epoch, Rules: a.Rules, Pass: a.Pass,
		Version: a.Version, Signature: a.Signature, Site: a.Site, Group: group, Bits: a.Bits,
		Follows: a.Follows, Past: a.Past,
	}
	if !a.Until.IsZero() {
		w.Until = a.Until.Unix()
	}
	if !a.Division.IsZero() {
		d, err := a.Division.wire()
		if err != nil {
			return advertWire{}, err
		}
		w.Division = &d
	}
	return w, nil
}

// advert is the other side of wire. The result shares w's slices.
func (w *advertWire) advert() (Advert, error) {
	peer, err := peerOf(w.Peer)
	if err != nil {
		return Advert{}, err
	}
	overlay, err := idOf(w.Overlay)
	if err != nil {
		return Advert{}, err
	}
	addrs, err := unpackAddrs(w.Addrs)
	if err != nil {
		return Advert{}, err
	}
	group, err := peersOf(w.Group, MaxGroup-1)
	if err != nil {
		return Advert{}, err
	}
	issued := time.UnixMilli(w.Issue).UTC()
	a := Advert{
		Peer: peer, Overlay: overlay, Seq: w.Seq, Issued: issued,
		Expires: issued.Add(time.Duration(w.Life) * time.Millisecond), Addrs: addrs,
		State: w.State, Slots: w.Slots, Free: w.Free, Memory: w.Memory, Speed: float64(w.Speed) / speedUnit, Reach: w.Reach,
		Record: w.Record, Spells: w.Spells, Epoch: w.Epoch, Rules: w.Rules, Pass: w.Pass,
		Version: w.Version, Signature: w.Signature, Site: w.Site, Group: group, Bits: w.Bits,
		Follows: w.Follows, Past: w.Past,
	}
	if w.Until != 0 {
		a.Until = time.Unix(w.Until, 0).UTC()
	}
	if w.Division != nil {
		if a.Division, err = w.Division.division(); err != nil {
			return Advert{}, err
		}
	}
	return a, nil
}

func packAddrs(texts []string) ([][]byte, error) {
	var out [][]byte
	var addrs []multiaddr.Multiaddr
	for _, text := range texts {
		a, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("address %q: %w", text, err)
		}
		out, addrs = append(out, a.Bytes()), append(addrs, a)
	}
	return out, checkCircuits(addrs)
}

func unpackAddrs(packed [][]byte) ([]string, error) {
	var out []string
	var addrs []multiaddr.Multiaddr
	for _, b := range packed {
		if len(b) > MaxAddrBytes {
			return nil, fmt.Errorf("an address has %d bytes, at most %d", len(b), MaxAddrBytes)
		}
		a, err := multiaddr.NewMultiaddrBytes(b)
		if err != nil {
			return nil, fmt.Errorf("an address: %w", err)
		}
		out, addrs = append(out, a.String()), append(addrs, a)
	}
	return out, checkCircuits(addrs)
}

// keysOf returns the keys of peers, nil for none.
func keysOf(list []task.PeerID) ([][]byte, error) {
	var keys [][]byte
	for _, p := range list {
		key, err := p.PublicKey()
		if err != nil {
			return nil, fmt.Errorf("a peer in a list: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// peersOf is the other side of keysOf. It refuses more than most.
func peersOf(keys [][]byte, most int) ([]task.PeerID, error) {
	if len(keys) > most {
		return nil, fmt.Errorf("a list of %d peers, at most %d", len(keys), most)
	}
	var list []task.PeerID
	for _, key := range keys {
		p, err := peerOf(key)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func peerOf(key []byte) (task.PeerID, error) {
	if len(key) != ed25519.PublicKeySize {
		return "", fmt.Errorf("a peer's key has %d bytes, want %d", len(key), ed25519.PublicKeySize)
	}
	return task.PeerIDOf(key), nil
}
