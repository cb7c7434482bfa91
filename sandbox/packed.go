package sandbox

import (
	"encoding/binary"
	"errors"
	"time"

	"godwit/task"
)

// Of the frames of a short task all but two are rare: the one that hands it over, and the one that tells its end. To
// write and read those as JSON took a sixth of the processor time of a task that does nothing. So they are packed:
// a byte that JSON does not begin with, then the fields in order, numbers as varints and texts behind their lengths.

const (
	packedRun byte = 'R' // of a request: Run
	packedEnd byte = 'E' // of an event: End
)

// errPacked is returned for bytes that are no packed header.
var errPacked = errors.New("a packed frame header is damaged")

// packed returns a header in its packed form; nil for one that has none.
func packed(header any) []byte {
	switch h := header.(type) {
	case request:
		if h.Run != nil {
			p := packer{b: append(make([]byte, 0, 256), packedRun)}
			h.Run.fields(&p)
			return p.b
		}
	case event:
		if h.End != nil {
			p := packer{b: append(make([]byte, 0, 128), packedEnd)}
			h.End.fields(&p)
			return p.b
		}
	}
	return nil
}

// unpack reads a packed header into what v points to, and reports whether it is one.
func unpack(b []byte, v any) (bool, error) {
	if len(b) == 0 {
		return false, nil
	}
	p := packer{b: b[1:], reads: true}
	switch v := v.(type) {
	case *request:
		if b[0] != packedRun {
			return false, nil
		}
		v.Run = &runReq{}
		v.Run.fields(&p)
	case *event:
		if b[0] != packedEnd {
			return false, nil
		}
		v.End = &response{}
		v.End.fields(&p)
	default:
		return false, nil
	}
	if p.bad || len(p.b) > 0 {
		return true, errPacked
	}
	return true, nil
}

// fields packs or unpacks a run.
func (r *runReq) fields(p *packer) {
	p.text(&r.Name)
	p.text(&r.Module)
	p.bytes(&r.Sum)
	p.texts(&r.Args)
	for i := range several(p, &r.Env, maxHeader) {
		p.text(&r.Env[i].Name)
		p.text(&r.Env[i].Value)
	}
	for i := range several(p, &r.Files, maxHeader) {
		p.text(&r.Files[i].Name)
		p.text(&r.Files[i].Key)
	}
	p.text(&r.Stdin)
	p.texts(&r.Outputs)
	l := &r.Limits
	count, compilers := int64(l.FileCount), int64(r.Compilers)
	wall, every := int64(l.Wall), int64(r.FuelEvery)
	for _, n := range []*int64{&l.Memory, &l.Files, &count, &l.Output, &wall, &every, &compilers} {
		p.signed(n)
	}
	l.FileCount, l.Wall, r.FuelEvery, r.Compilers = int(count), time.Duration(wall), time.Duration(every), int(compilers)
	for _, n := range []*uint64{&r.FreezeAt, &r.ThawEvery, &r.Spacing} {
		p.number(n)
	}
	p.flags(&r.Off, &r.Saves, &r.Staged, &r.Meets, &r.Hash, &r.Keeps, &r.Unkept, &r.Tell, &r.Ready)
}

// fields packs or unpacks an end.
func (r *response) fields(p *packer) {
	outcome, code := uint64(r.Outcome), uint64(r.ExitCode)
	p.number(&outcome)
	p.number(&code)
	r.Outcome, r.ExitCode = task.Outcome(outcome), uint32(code)
	p.bad = p.bad || uint64(r.Outcome) != outcome || uint64(r.ExitCode) != code
	p.text(&r.Message)
	for i := range several(p, &r.Outputs, task.MaxOutputs+1) {
		p.text(&r.Outputs[i].Name)
		p.signed(&r.Outputs[i].Size)
	}
	cpu, restore := int64(r.CPU), int64(r.Restore)
	p.signed(&cpu)
	p.signed(&r.PeakMemory)
	p.signed(&restore)
	r.CPU, r.Restore = time.Duration(cpu), time.Duration(restore)
	p.number(&r.Fuel)
	p.bytes(&r.Hash)
	p.text(&r.Refused)
	p.flags(&r.TooDeep)
}

// A packer writes fields behind b or, if it reads, takes them off its beginning. What cannot be read leaves zero
// values, and bad set. It allocates no more than a small multiple of what is there to be read.
type packer struct {
	b     []byte
	reads bool
	bad   bool
}

func (p *packer) number(n *uint64) {
	if !p.reads {
		p.b = binary.AppendUvarint(p.b, *n)
		return
	}
	v, size := binary.Uvarint(p.b)
	if size <= 0 {
		p.bad, p.b, *n = true, nil, 0
		return
	}
	*n, p.b = v, p.b[size:]
}

func (p *packer) signed(n *int64) {
	v := uint64(*n)<<1 ^ uint64(*n>>63)
	p.number(&v)
	*n = int64(v>>1) ^ -int64(v&1)
}

// length is a number of things each of which takes at least a byte.
func (p *packer) length(have int) int {
	n := uint64(have)
	if p.number(&n); n > uint64(len(p.b)) && p.reads {
		p.bad, p.b, n = true, nil, 0
	}
	return int(n)
}

func (p *packer) text(s *string) {
	n := p.length(len(*s))
	if !p.reads {
		p.b = append(p.b, *s...)
		return
	}
	*s, p.b = string(p.b[:n]), p.b[n:]
}

func (p *packer) bytes(b *[]byte) {
	n := p.length(len(*b))
	if !p.reads {
		p.b = append(p.b, *b...)
		return
	}
	if *b = nil; n > 0 {
		*b = append([]byte(nil), p.b[:n]...)
	}
	p.b = p.b[n:]
}

func (p *packer) texts(s *[]string) {
	for i := range several(p, s, maxHeader) {
		p.text(&(*s)[i])
	}
}

// several packs how many there are, or makes as many as there will be, at most so many, and returns that.
func several[T any](p *packer, s *[]T, most int) int {
	n := p.length(len(*s))
	if p.reads {
		if n > most {
			p.bad, p.b, n = true, nil, 0
		}
		if *s = nil; n > 0 {
			*s = make([]T, n)
		}
	}
	return n
}

// flags are one number.
func (p *packer) flags(flags ...*bool) {
	var all uint64
	for i, f := range flags {
		if *f {
			all |= 1 << i
		}
	}
	p.number(&all)
	for i, f := range flags {
		*f = all&(1<<i) != 0
	}
	p.bad = p.bad || all>>len(flags) != 0
}
