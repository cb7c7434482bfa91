package wasm

import "bytes"

// WithoutCustoms returns a module without its custom sections, or b itself if there are none. What a custom section
// contains must not affect whether a module is valid, but an engine may decode one and fail, or allocate as many entries
// as it claims. The error is of type *Error if the sections cannot be told apart.
func WithoutCustoms(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, header) {
		return nil, &Error{Section: "header", Func: -1, Reason: "not a WebAssembly module of version 1"}
	}
	var out []byte // nil before the first custom section
	c := &cursor{b: b, pos: len(header)}
	for !c.done() {
		start := c.pos
		id := c.byte()
		c.take(int(c.u32()))
		if c.err != nil {
			return nil, &Error{Section: "header", Offset: c.at, Func: -1, Reason: c.err.Error()}
		}
		switch {
		case id == secCustom && out == nil:
			out = append(make([]byte, 0, len(b)), b[:start]...)
		case id != secCustom && out != nil:
			out = append(out, b[start:c.pos]...)
		}
	}
	if out == nil {
		return b, nil
	}
	return out, nil
}
