package task

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"github.com/multiformats/go-multihash"
)

// peerPrefix precedes the 32 bytes of an Ed25519 public key in a peer ID: an
// identity multihash (code 0x00, length 0x24) of the protobuf that libp2p puts
// keys in (field 1, type Ed25519; field 2, 32 bytes). See the libp2p
// specification, peer-ids.
var peerPrefix = []byte{0x00, 0x24, 0x08, 0x01, 0x12, 0x20}

// maxPeerIDText bounds the text of a peer ID that is decoded at all, in bytes.
// Ours have 52; decoding base58 costs the square of the length.
const maxPeerIDText = 64

// PeerIDOf returns the libp2p peer ID of an Ed25519 public key of 32 bytes. It
// panics on any other length, as the functions of crypto/ed25519 do.
func PeerIDOf(pub ed25519.PublicKey) PeerID {
	if len(pub) != ed25519.PublicKeySize {
		panic(fmt.Sprintf("task: Ed25519 public key of %d bytes", len(pub)))
	}
	hash := append(bytes.Clone(peerPrefix), pub...)
	return PeerID(multihash.Multihash(hash).B58String())
}

// PublicKey returns the Ed25519 public key that p contains. It fails for
// anything but the canonical peer ID of such a key.
func (p PeerID) PublicKey() (ed25519.PublicKey, error) {
	if len(p) > maxPeerIDText {
		return nil, fmt.Errorf("peer ID %s: too long", quote(string(p)))
	}
	hash, err := multihash.FromB58String(string(p))
	if err != nil {
		return nil, fmt.Errorf("peer ID %s: %w", quote(string(p)), err)
	}
	key, found := bytes.CutPrefix(hash, peerPrefix)
	if !found || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("peer ID %s: not of an Ed25519 key", quote(string(p)))
	}
	return ed25519.PublicKey(key), nil
}
