// Package signed keeps small texts that any mirror may show: who signed them, and where they come from.
//
// What a text says, and for how long, is for its own package: lists of peers (p2p/bootstrap), releases
// (internal/release).
package signed

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"godwit/task"
)

// MaxSignatures leaves room for several keepers of a text, and for a key and its successor.
const MaxSignatures = 8

// A Signature is a key's over all of a text but the signatures. A text begins with words that keep it apart from all
// else that a key may sign.
type Signature struct {
	Key       task.PeerID // a peer ID of the key, which need be no node's
	Signature []byte
}

// word begins a line with a signature.
const word = "signed "

// Add returns the signatures of a text with that of a key, in place of the one that it had. They are in the order of
// their keys. There is an error for no private key, and where MaxSignatures others are there.
func Add(all []Signature, key ed25519.PrivateKey, body []byte) ([]Signature, error) {
	if len(key) != ed25519.PrivateKeySize {
		return all, fmt.Errorf("the key has %d bytes, want %d", len(key), ed25519.PrivateKeySize)
	}
	s := Signature{task.PeerIDOf(key.Public().(ed25519.PublicKey)), ed25519.Sign(key, body)}
	i, found := slices.BinarySearchFunc(all, s, compare)
	if found {
		all[i] = s
		return all, nil
	}
	if len(all) >= MaxSignatures {
		return all, fmt.Errorf("it has %d signatures, the most that it can", MaxSignatures)
	}
	return slices.Insert(all, i, s), nil
}

func compare(a, b Signature) int { return strings.Compare(string(a.Key), string(b.Key)) }

// By returns which of the trusted keys have signed a text, and whose signature is not one of it.
func By(all []Signature, trusted []task.PeerID, body []byte) (good, bad []task.PeerID) {
	for _, s := range all {
		if !slices.Contains(trusted, s.Key) {
			continue
		}
		if key, err := s.Key.PublicKey(); err == nil && ed25519.Verify(key, body, s.Signature) {
			good = append(good, s.Key)
		} else {
			bad = append(bad, s.Key)
		}
	}
	return good, bad
}

// Append writes the signatures behind a text, a line each.
func Append(b []byte, all []Signature) []byte {
	for _, s := range all {
		b = fmt.Appendf(b, "%s%s %s\n", word, s.Key, base64.StdEncoding.EncodeToString(s.Signature))
	}
	return b
}

// Take takes in what a line says behind its first word. Lines have to be as Append writes them.
func Take(all []Signature, rest string) ([]Signature, error) {
	key, text, _ := strings.Cut(rest, " ")
	s := Signature{Key: task.PeerID(key)}
	if _, err := s.Key.PublicKey(); err != nil {
		return all, err
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != ed25519.SignatureSize {
		return all, errors.New("that is no signature")
	}
	s.Signature = b
	if n := len(all); n >= MaxSignatures || n > 0 && compare(all[n-1], s) >= 0 {
		return all, fmt.Errorf("signatures are in the order of their keys, one each, at most %d", MaxSignatures)
	}
	return append(all, s), nil
}
