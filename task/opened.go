package task

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// maxOpened is how many records an Opened remembers: 10,000 is how many jobs a coordinator has
// open at most, and some 200 bytes a record make three megabytes.
const maxOpened = 1 << 14

const (
	// maxRead is the bytes of records whose jobs are kept read at most; a job read takes some times as much.
	maxRead = 1 << 20
	// recentNames is how many records are kept to be found without hashing them, each of less than recentMost bytes:
	// 256 KiB at most. Records come in bursts of one job, or of the few that wait.
	recentNames, recentMost = 1 << 7, 2 << 10
)

// An Opened opens records, and remembers of which the signature was found right, of the newest 16,384, and how these
// are named: a job's record comes to a node from its submitter, time after time while nothing comes of the job, from
// coordinators and from disk; checking a signature costs ten times what all else of it does, and naming a record more
// than finding it here. Jobs that were read last are kept read. Nil remembers nothing. It is for one goroutine.
type Opened struct {
	signed map[[sha256.Size]byte]*recorded
	order  [][sha256.Size]byte // of signed, a ring once it is full
	oldest int                 // in order
	read   []*recorded         // those with a job, the oldest first
	bytes  int                 // of their records
	recent []recentName        // by the end of the signature
}

// recorded is how a record is named, who submitted it, and what it says.
type recorded struct {
	job       JobID
	submitter PeerID
	spec      *Job // nil while it is not kept read
	bytes     int  // of the record, while it is
}

// A recentName is a record, each part copied, and how it is named.
type recentName struct {
	is   Record
	name [sha256.Size]byte
}

func recordNames(r *Record) *recorded { return &recorded{job: r.ID(), submitter: r.Submitter()} }

// Sign is SignJob. What was signed here is signed right.
func (o *Opened) Sign(j *Job, key ed25519.PrivateKey) (Record, error) {
	r, err := SignJob(j, key)
	if err == nil && o != nil {
		o.remember(o.nameOf(&r), recordNames(&r))
	}
	return r, err
}

// Names are Record.ID and Record.Submitter.
func (o *Opened) Names(r *Record) (JobID, PeerID) {
	if o == nil || len(r.Job) > MaxRecord {
		return r.ID(), r.Submitter()
	}
	n, known := o.signed[o.nameOf(r)]
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
	if n, known := o.signed[o.nameOf(r)]; known {
		return n.submitter
	}
	return r.Submitter()
}

// Open is Record.OpenWhole. The job is read only: the next who opens the record may be given the same.
func (o *Opened) Open(r *Record) (*Job, error) {
	if o == nil || len(r.Job) > MaxRecord {
		return r.OpenWhole()
	}
	name := o.nameOf(r)
	is := o.signed[name]
	if is != nil && is.spec != nil {
		if err := is.spec.CheckKey(r.Key); err != nil {
			return nil, fmt.Errorf("opening a job record: %w", err)
		}
		return is.spec, nil
	}
	j, err := r.openKeyed(is != nil)
	if err != nil {
		return nil, err
	}
	if is == nil {
		is = recordNames(r)
		o.remember(name, is)
	}
	o.keepRead(is, j, len(r.Job))
	return j, nil
}

// keepRead keeps a job that was read, and lets go of the oldest while all take too much.
func (o *Opened) keepRead(is *recorded, j *Job, size int) {
	if size > maxRead {
		return
	}
	is.spec, is.bytes = j, size
	o.read = append(o.read, is)
	for o.bytes += size; o.bytes > maxRead; o.read = o.read[1:] {
		oldest := o.read[0]
		o.bytes -= oldest.bytes
		oldest.spec, o.read[0] = nil, nil
	}
}

func (o *Opened) remember(name [sha256.Size]byte, is *recorded) {
	if o.signed == nil {
		o.signed = map[[sha256.Size]byte]*recorded{}
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

// nameOf is nameOfSigned, found among the recent names where it is there.
func (o *Opened) nameOf(r *Record) [sha256.Size]byte {
	n := len(r.Signature)
	if n == 0 || len(r.PublicKey)+n+len(r.Job) > recentMost {
		return nameOfSigned(r)
	}
	if o.recent == nil {
		o.recent = make([]recentName, recentNames)
	}
	at := &o.recent[r.Signature[n-1]%recentNames]
	if is := &at.is; bytes.Equal(is.Signature, r.Signature) && bytes.Equal(is.Job, r.Job) &&
		bytes.Equal(is.PublicKey, r.PublicKey) {
		return at.name
	}
	at.name = nameOfSigned(r)
	at.is.Signature = append(at.is.Signature[:0], r.Signature...) // a copy: whose memory it was may use it again
	at.is.Job = append(at.is.Job[:0], r.Job...)
	at.is.PublicKey = append(at.is.PublicKey[:0], r.PublicKey...)
	return at.name
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
