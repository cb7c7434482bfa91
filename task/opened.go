package task

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
)

// maxOpened is how many records an Opened remembers: 10,000 is how many jobs a coordinator has
// open at most, and some 200 bytes a record make three megabytes.
const maxOpened = 1 << 14

// An Opened opens records, and remembers of which the signature was found right, of the newest 16,384, and how these
// are named: a job's record comes to a node from its submitter, time after time while nothing comes of the job, from
// coordinators and from disk; checking a signature costs ten times what all else of it does, and naming a record more
// than finding it here. Nil remembers nothing. It is for one goroutine.
type Opened struct {
	signed map[[sha256.Size]byte]recorded
	order  [][sha256.Size]byte // of signed, a ring once it is full
	oldest int                 // in order
}

// recorded is how a record is named, and who submitted it.
type recorded struct {
	job       JobID
	submitter PeerID
}

func recordNames(r *Record) recorded { return recorded{r.ID(), r.Submitter()} }

// Sign is SignJob. What was signed here is signed right.
func (o *Opened) Sign(j *Job, key ed25519.PrivateKey) (Record, error) {
	r, err := SignJob(j, key)
	if err == nil && o != nil {
		o.remember(nameOfSigned(&r), recordNames(&r))
	}
	return r, err
}

// Names are Record.ID and Record.Submitter.
func (o *Opened) Names(r *Record) (JobID, PeerID) {
	if o == nil || len(r.Job) > MaxRecord {
		return r.ID(), r.Submitter()
	}
	n, known := o.signed[nameOfSigned(r)]
	if !known {
		n = recordNames(r)
	}
	return n.job, n.submitter
}

// Submitter is Record.Submitter.
func (o *Opened) Submitter(r *Record) PeerID {
	if o == nil || len(r.Job) > MaxRecord {
		return r.Submitter()
	}
	if n, known := o.signed[nameOfSigned(r)]; known {
		return n.submitter
	}
	return r.Submitter()
}

// Open is Record.OpenWhole.
func (o *Opened) Open(r *Record) (*Job, error) {
	if o == nil || len(r.Job) > MaxRecord {
		return r.OpenWhole()
	}
	name := nameOfSigned(r)
	if _, ok := o.signed[name]; ok {
		return r.openKeyed(true)
	}
	j, err := r.openKeyed(false)
	if err == nil {
		o.remember(name, recordNames(r))
	}
	return j, err
}

func (o *Opened) remember(name [sha256.Size]byte, is recorded) {
	if o.signed == nil {
		o.signed = map[[sha256.Size]byte]recorded{}
	}
	if len(o.order) < maxOpened {
		o.order = append(o.order, name)
	} else {
		delete(o.signed, o.order[o.oldest])
		o.order[o.oldest] = name
		o.oldest = (o.oldest + 1) % maxOpened
	}
	o.signed[name] = is
}

// nameOfSigned names what a signature covers, and the signature. Each part is preceded by its length.
func nameOfSigned(r *Record) (name [sha256.Size]byte) {
	h := sha256.New()
	for _, part := range [][]byte{r.PublicKey, r.Signature, r.Job} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	h.Sum(name[:0])
	return name
}
