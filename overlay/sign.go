package overlay

import (
	"crypto/ed25519"
	"fmt"

	"godwit/task"
)

// sign signs v, whose signature is removed, with the key that peer's ID
// contains.
func sign(kind string, v any, peer task.PeerID, key ed25519.PrivateKey) ([]byte, error) {
	pub, err := publicKey(peer)
	if err != nil {
		return nil, fmt.Errorf("overlay: signing %s: %w", kind, err)
	}
	if len(key) != ed25519.PrivateKeySize || !pub.Equal(key.Public()) {
		return nil, fmt.Errorf("overlay: signing %s: the key is not that of %s", kind, peer)
	}
	b, err := signedBytes(kind, v)
	if err != nil {
		return nil, err
	}
	return ed25519.Sign(key, b), nil
}

// verify is the other side of sign.
func verify(kind string, v any, peer task.PeerID, sig []byte) error {
	pub, err := publicKey(peer)
	if err != nil {
		return fmt.Errorf("overlay: verifying %s: %w", kind, err)
	}
	b, err := signedBytes(kind, v)
	if err != nil {
		return err
	}
	if !ed25519.Verify(pub, b, sig) {
		return fmt.Errorf("overlay: %s of %s has a wrong signature", kind, peer)
	}
	return nil
}
