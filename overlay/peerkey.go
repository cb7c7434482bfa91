package overlay

import (
	"crypto/ed25519"
	"errors"
	"math/big"
	"strings"

	"godwit/task"
)

// publicKey takes the Ed25519 key out of a peer ID.
func publicKey(p task.PeerID) (ed25519.PublicKey, error) {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	if len(p) != 52 {
		return nil, errors.New("peer ID does not contain an Ed25519 key")
	}
	n := new(big.Int)
	for _, c := range p[1:] {
		d := strings.IndexRune(alphabet, c)
		if d < 0 {
			return nil, errors.New("peer ID is not base58")
		}
		n.Mul(n, big.NewInt(58)).Add(n, big.NewInt(int64(d)))
	}
	b := n.Bytes()
	if p[0] != '1' || len(b) != 37 || string(b[:5]) != "\x24\x08\x01\x12\x20" {
		return nil, errors.New("peer ID does not contain an Ed25519 key")
	}
	return ed25519.PublicKey(b[5:]), nil
}
