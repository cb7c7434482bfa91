package task

import (
	"bytes"
	"crypto/sha256"
	"errors"
)

// KeySize is the length in bytes of the key of a sealed job, and of the commitment to it.
const KeySize = 32

// keyDomain keeps the commitment to a key from being any other hash of it.
const keyDomain = "godwit key 1\x00"

// ErrKey is returned for a sealed job without its key, or with another.
var ErrKey = errors.New("task: the key of the sealed job is missing, or another")

// KeyCommitment returns what a job says of the key under which its content is sealed. It
// tells nothing of a random key, and no other key has the same.
func KeyCommitment(key []byte) []byte {
	sum := sha256.Sum256(append([]byte(keyDomain), key...))
	return sum[:]
}

// CheckKey returns nil for the key of the job, which is none where the job is not sealed,
// else ErrKey.
func (j *Job) CheckKey(key []byte) error {
	switch {
	case len(j.Sealed) == 0 && len(key) == 0:
		return nil
	case len(j.Sealed) == 0 || len(key) != KeySize || !bytes.Equal(KeyCommitment(key), j.Sealed):
		return ErrKey
	}
	return nil
}
