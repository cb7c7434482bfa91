// Package signatures checks Ed25519 signatures of the same few keys again and again: a leader hears
// from each worker thousands of times. It also makes those of a worker. It takes less time than
// crypto/ed25519 does, by curve25519-voi, which has quicker arithmetic and keeps what depends on the
// key alone.
//
// It answers and signs as crypto/ed25519 does, whatever the bytes: two nodes must not come to different words
// about one signature, so batches are not checked together by a random combination, which lets pass
// what some single check refuses.
package signatures
