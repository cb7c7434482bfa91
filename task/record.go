package task

// A Record is a signed job: the canonical CBOR of a Job, the submitter's raw
// Ed25519 public key and its signature over the bytes. The record's own
// canonical CBOR is a block whose CID is the JobID.
type Record struct {
	Job       []byte `cbor:"1,keyasint"`
	PublicKey []byte `cbor:"2,keyasint"`
	Signature []byte `cbor:"3,keyasint"`
}
