// Package seal hides what files and pages hold from whoever has their blocks and not the
// key. It is deterministic: equal bytes under one key are equal when they are sealed, so that
// runs of a task still agree byte for byte, and equal parts are still one block.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

const (
	// KeyBytes is the length of a key.
	KeyBytes = 32
	// Overhead is by how many bytes a sealed chunk is longer than what it holds.
	Overhead = 16
	// Chunk is how many bytes a sealed chunk of a file has, the last aside: what a leaf of a
	// stored file has (package blocks), so that equal chunks of a job's files share a block.
	Chunk = 256 << 10
	// plainChunk is what such a chunk holds.
	plainChunk = Chunk - Overhead
)

// ErrSealed is returned for bytes that were not sealed with this key, or not as they are now.
var ErrSealed = errors.New("seal: not sealed with this key")

// What keys derived from the one are for.
const (
	authKey = "godwit seal 1 authentication"
	hideKey = "godwit seal 1 encryption"
	nameKey = "godwit seal 1 names"
)

// A Sealer seals and opens under one key. It is safe for concurrent use. A nil one leaves
// everything as it is: it is that of jobs whose content is not sealed.
type Sealer struct {
	auth  []byte
	names []byte
	block cipher.Block
}

// New returns the Sealer of a key of KeyBytes random bytes, and nil for no key.
func New(key []byte) (*Sealer, error) {
	switch len(key) {
	case 0:
		return nil, nil
	case KeyBytes:
	default:
		return nil, fmt.Errorf("seal: a key of %d bytes, want %d", len(key), KeyBytes)
	}
	derive := func(use string) ([]byte, error) { return hkdf.Expand(sha256.New, key, use, KeyBytes) }
	auth, errAuth := derive(authKey)
	hide, errHide := derive(hideKey)
	names, errNames := derive(nameKey)
	if err := errors.Join(errAuth, errHide, errNames); err != nil {
		return nil, fmt.Errorf("seal: deriving keys: %w", err)
	}
	block, err := aes.NewCipher(hide)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return &Sealer{auth: auth, names: names, block: block}, nil
}

// iv is the synthetic initial vector of a chunk: it depends on all of its bytes, so two
// chunks have the same only if they are equal.
func (s *Sealer) iv(plain []byte) []byte {
	h := hmac.New(sha256.New, s.auth)
	h.Write(plain)
	return h.Sum(nil)[:Overhead]
}

// Seal returns a sealed chunk that holds plain, which it does not keep.
func (s *Sealer) Seal(plain []byte) []byte {
	if s == nil {
		return plain
	}
	out := append(make([]byte, 0, Overhead+len(plain)), s.iv(plain)...)
	out = out[:Overhead+len(plain)]
	cipher.NewCTR(s.block, out[:Overhead]).XORKeyStream(out[Overhead:], plain)
	return out
}

// Open returns what a sealed chunk holds. The error is ErrSealed for any other bytes.
func (s *Sealer) Open(sealed []byte) ([]byte, error) {
	if s == nil {
		return sealed, nil
	}
	if len(sealed) < Overhead {
		return nil, fmt.Errorf("%w: a chunk of %d bytes", ErrSealed, len(sealed))
	}
	plain := make([]byte, len(sealed)-Overhead)
	cipher.NewCTR(s.block, sealed[:Overhead]).XORKeyStream(plain, sealed[Overhead:])
	if !hmac.Equal(s.iv(plain), sealed[:Overhead]) {
		return nil, ErrSealed
	}
	return plain, nil
}

// Name returns the name of something that is known by its hash, in hexadecimal: under a key
// it tells nobody else the hash.
func (s *Sealer) Name(hash [sha256.Size]byte) string {
	if s == nil {
		return hex.EncodeToString(hash[:])
	}
	h := hmac.New(sha256.New, s.names)
	h.Write(hash[:])
	return hex.EncodeToString(h.Sum(nil))
}
