package overlay

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"

	"godwit/task"
)

// An ID names an overlay: the CID (version 1, raw, sha2-256) of its first
// manifest's canonical bytes. Whoever has the ID can fetch that manifest as a
// block from anybody and need not trust who gave it.
type ID = task.CID

// digestSize is the size of an ID on the wire: only its hash travels, since all
// else of it is the same in every ID.
const digestSize = sha256.Size

// idPrefix is what all IDs begin with in binary: CID version 1, the raw codec,
// sha2-256 and its length.
const idPrefix = "\x01\x55\x12\x20"

// idText writes CIDs, after the letter of the encoding (multibase's "b").
var idText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ParseID checks that s is the canonical text of an overlay's ID.
func ParseID(s string) (ID, error) {
	id, err := task.ParseCID(s)
	if err != nil {
		return "", fmt.Errorf("overlay ID: %w", err)
	}
	if _, err := digestOf(id); err != nil {
		return "", err
	}
	return id, nil
}

// digestOf returns the hash in an overlay's ID.
func digestOf(id ID) ([]byte, error) {
	if !id.Valid() {
		return nil, fmt.Errorf("overlay ID %.64q is not a CID", string(id))
	}
	b, err := idText.DecodeString(string(id[1:]))
	if err != nil || len(b) != len(idPrefix)+digestSize || string(b[:len(idPrefix)]) != idPrefix {
		return nil, fmt.Errorf("overlay ID %s is of other content than a manifest", id)
	}
	return b[len(idPrefix):], nil
}

// idOf is the other side of digestOf.
func idOf(digest []byte) (ID, error) {
	if len(digest) != digestSize {
		return "", fmt.Errorf("overlay ID has %d bytes, want %d", len(digest), digestSize)
	}
	return ID("b" + idText.EncodeToString(append([]byte(idPrefix), digest...))), nil
}
