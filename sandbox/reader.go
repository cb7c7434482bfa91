package sandbox

// A reader walks through the bytes of a module. The first failure sticks; all
// later reads give zeros.
type reader struct {
	b    []byte
	at   int   // offset in the file of b[0]
	fail error // a *ModuleError
}

func (r *reader) truncated() {
	if r.fail == nil {
		r.fail = invalid(Truncated, "the file is incomplete; build or copy it again", "truncated at byte %d", r.at+len(r.b))
	}
	r.at, r.b = r.at+len(r.b), nil
}

func (r *reader) bad(format string, args ...any) {
	if r.fail == nil {
		r.fail = invalid(Malformed, "", "byte %d: "+format, append([]any{r.at}, args...)...)
	}
}

// take returns the next n bytes.
func (r *reader) take(n uint64) []byte {
	if r.fail != nil {
		return nil
	}
	if n > uint64(len(r.b)) {
		r.truncated()
		return nil
	}
	b := r.b[:n]
	r.b, r.at = r.b[n:], r.at+int(n)
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// u reads an unsigned LEB128 number of up to bits bits.
func (r *reader) u(bits uint) uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := r.byte()
		if r.fail != nil {
			return 0
		}
		if shift >= bits || shift+7 > bits && b>>(bits-shift) != 0 {
			r.bad("number too long")
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

func (r *reader) u32() uint32 { return uint32(r.u(32)) }

// count reads the length of a vector whose items take at least one byte each.
func (r *reader) count() int {
	n := r.u32()
	if r.fail == nil && uint64(n) > uint64(len(r.b)) {
		r.truncated()
		return 0
	}
	return int(n)
}

func (r *reader) name() string { return string(r.take(uint64(r.u32()))) }

// section splits off a part, so that nothing in it is read beyond its end.
func (r *reader) section(n uint64) *reader {
	at := r.at
	return &reader{b: r.take(n), at: at, fail: r.fail}
}
