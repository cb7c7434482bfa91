// Package signatures checks Ed25519 signatures of the same few keys again and again: a leader hears
// from each worker thousands of times. It takes less time than crypto/ed25519 does, by
// curve25519-voi, which has quicker arithmetic and keeps what depends on the key alone.
//
// It answers as crypto/ed25519 does, to whatever bytes: two nodes must not come to different words
// about one signature, so batches are not checked together by a random combination, which lets pass
// what some single check refuses.
package signatures
