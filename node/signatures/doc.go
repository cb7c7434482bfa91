// Package signatures checks Ed25519 signatures of the same few keys again and again, in a third of
// the time that a key takes that was never seen: a leader hears from each worker thousands of times.
//
// It answers as crypto/ed25519 does, to whatever bytes: two nodes must not come to different words
// about one signature, so batches are not checked together by a random combination, which lets pass
// what some single check refuses. What is saved is the doubling of points: of a key that comes often
// the multiples are kept (Verifier), and of the base point they are the same for all; signatures that
// come together share the one inversion that is left. Nothing here is secret, so nothing takes the same time whatever the bytes. The arithmetic of the field and the
// decoding of keys and scalars are those of filippo.io/edwards25519, from which crypto/ed25519 is made.
package signatures
