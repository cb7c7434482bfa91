package p2p

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"godwit/task"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/pnet"
)

const (
	// SwarmKeyBytes is the size of a private swarm's key.
	SwarmKeyBytes = 32

	// maxKeyFile is far above any key file: 68 bytes for an identity, 95 or 117
	// for a swarm key.
	maxKeyFile = 4096
)

// ErrKeyDamaged is wrapped by the errors of LoadOrCreateKey for a key file whose bytes are not
// those that were stored.
var ErrKeyDamaged = errors.New("the key is damaged")

// LoadOrCreateKey reads a node's identity from path, a private key as libp2p
// marshals it, or makes one there, readable by its owner only. It detects any
// single damaged byte, because the file holds both the seed and the public key
// that follows from the seed.
func LoadOrCreateKey(path string) (ed25519.PrivateKey, error) {
	b, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("p2p: reading the node's key: %w", err)
	}
	raw, err := openKey(b)
	if err != nil {
		return nil, fmt.Errorf("p2p: %s: %w", path, err)
	}
	return raw, nil
}

// openKey decodes a key file. The public half must follow from the seed, and the encoding must be
// the one that StoreKey writes.
func openKey(b []byte) (ed25519.PrivateKey, error) {
	key, err := crypto.UnmarshalPrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("%w: not a libp2p private key: %w", ErrKeyDamaged, err)
	}
	raw, err := key.Raw()
	if err != nil || key.Type() != crypto.Ed25519 || len(raw) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("%w: key of type %v, want Ed25519", ErrKeyDamaged, key.Type())
	}
	private := ed25519.PrivateKey(raw)
	if !private.Equal(ed25519.NewKeyFromSeed(private.Seed())) {
		return nil, fmt.Errorf("%w: its public half does not match its seed", ErrKeyDamaged)
	}
	again, err := crypto.MarshalPrivateKey(key)
	if err != nil || !bytes.Equal(again, b) {
		return nil, fmt.Errorf("%w: unexpected bytes around the key", ErrKeyDamaged)
	}
	return private, nil
}

func createKey(path string) (ed25519.PrivateKey, error) {
	_, raw, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("p2p: making the node's key: %w", err)
	}
	return raw, StoreKey(path, raw)
}

// StoreKey makes a key the identity at path, where there must be none, for
// LoadOrCreateKey to find: for experiments whose identities follow from a seed.
func StoreKey(path string, raw ed25519.PrivateKey) error {
	key, err := crypto.UnmarshalEd25519PrivateKey(raw)
	if err != nil {
		return fmt.Errorf("p2p: making the node's key: %w", err)
	}
	b, err := crypto.MarshalPrivateKey(key)
	if err != nil {
		return fmt.Errorf("p2p: making the node's key: %w", err)
	}
	if err := writeKey(path, b); err != nil {
		return fmt.Errorf("p2p: storing the node's key: %w", err)
	}
	return nil
}

// writeKey leaves either the whole file or none. A link, unlike a rename, does
// not replace a key that another process made meanwhile.
func writeKey(path string, b []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(f.Name(), path) // a file system without hard links
}

// LoadSwarmKey reads the key of a private swarm in the format that IPFS and
// libp2p share: "/key/swarm/psk/1.0.0/", the encoding, the key, a line each.
func LoadSwarmKey(path string) ([]byte, error) {
	b, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("p2p: reading the swarm key: %w", err)
	}
	key, err := pnet.DecodeV1PSK(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("p2p: %s is not a swarm key (lines /key/swarm/psk/1.0.0/, /base16/, 64 hex digits): %w",
			path, err)
	}
	return key, nil
}

// PeerIDOf returns the ID of the node whose key this is.
func PeerIDOf(key ed25519.PrivateKey) (task.PeerID, error) {
	k, err := crypto.UnmarshalEd25519PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("p2p: key: %w", err)
	}
	id, err := peer.IDFromPrivateKey(k)
	if err != nil {
		return "", fmt.Errorf("p2p: key: %w", err)
	}
	return task.PeerID(id.String()), nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(b) > maxKeyFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxKeyFile)
	}
	return b, err
}
