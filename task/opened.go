package task

import (
	"crypto/sha256"
	"encoding/binary"
)

// maxOpened is how many records an Opened remembers: 10,000 is how many jobs a coordinator has
// open at most, and 32 bytes a record make half a megabyte.
const maxOpened = 1 << 14

// An Opened opens records, and remembers of which the signature was found right, of the newest 16,384:
// a job's record comes to a node from its submitter, from coordinators and from disk, and checking a
// signature costs ten times what all else of it does. Nil remembers nothing. It is for one goroutine.
type Opened struct {
	signed map[[sha256.Size]byte]struct{}
	order  [][sha256.Size]byte // of signed, a ring once it is full
	oldest int                 // in order
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
		o.remember(name)
	}
	return j, err
}

func (o *Opened) remember(name [sha256.Size]byte) {
	if o.signed == nil {
		o.signed = map[[sha256.Size]byte]struct{}{}
	}
	if len(o.order) < maxOpened {
		o.order = append(o.order, name)
	} else {
		delete(o.signed, o.order[o.oldest])
		o.order[o.oldest] = name
		o.oldest = (o.oldest + 1) % maxOpened
	}
	o.signed[name] = struct{}{}
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
