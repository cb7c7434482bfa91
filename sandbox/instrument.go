package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"

	"godwit/sandbox/freeze"
)

// What a child has made of a module is kept between processes, in two parts. A child writes them before it runs
// anything
// of the module, and the parent keeps them: see entries. That the first is there says too that the module was
// validated,
// which takes a third as long as to run the pass.
//
// The first is a verdict: the module's instrumented form, or why it cannot be frozen.
//
//	1 byte    whether it cannot be frozen
//	8 bytes   length of the layout, or of the reason, little endian
//	layout    gob; or the reason
//	rest      the instrumented module
//
// The second is its machine code: the engine's name for that, of 32 bytes, and the code as the engine writes it.
type verdict struct {
	refused bool
	about   []byte // layout, or reason
	wasm    []byte
}

// verdictHead is the size of what comes before a verdict's parts.
const verdictHead = 1 + 8

// parts are the bytes of a verdict, one after the other.
func (v *verdict) parts() [][]byte {
	head := make([]byte, 1, verdictHead)
	if v.refused {
		head[0] = 1
	}
	return [][]byte{binary.LittleEndian.AppendUint64(head, uint64(len(v.about))), v.about, v.wasm}
}

// parseVerdict reads a verdict, whose parts are parts of b.
func parseVerdict(b []byte) (*verdict, error) {
	if len(b) < verdictHead {
		return nil, errors.New("cut short")
	}
	size, rest := binary.LittleEndian.Uint64(b[1:]), b[verdictHead:]
	if size > uint64(len(rest)) {
		return nil, errors.New("cut short")
	}
	return &verdict{b[0] == 1, rest[:size:size], rest[size:]}, nil
}

// code is machine code, as the engine writes it, and the engine's name for it: which engine, processor and module it is
// of.
type code struct {
	key  [sha256.Size]byte
	data []byte // nil for none
}

func (c *code) parts() [][]byte { return [][]byte{c.key[:], c.data} }

// parseCode reads machine code, which is part of b; none if it is cut short.
func parseCode(b []byte) (c code) {
	if len(b) > len(c.key) {
		copy(c.key[:], b)
		c.data = b[len(c.key):]
	}
	return c
}

// A refusal is a reason why a module cannot be frozen, from a verdict.
type refusal string

func (r refusal) Error() string { return string(r) }
func (refusal) Unwrap() error   { return freeze.ErrRefused }

// program is the module of a verdict that was made of wasm.
func (v *verdict) program(wasm []byte) (*freeze.Program, error) {
	if v.refused {
		return nil, refusal(v.about)
	}
	var l freeze.Layout
	if err := gob.NewDecoder(bytes.NewReader(v.about)).Decode(&l); err != nil {
		return nil, fmt.Errorf("decoding a layout: %w", err)
	}
	return freeze.Load(wasm, v.wasm, l)
}

// instrumented returns a module with safe points, and the verdict to keep. The error is about the module, or wraps
// freeze.ErrRefused, of which there is a verdict too. With more than one worker the module is validated meanwhile.
func instrumented(ctx context.Context, wasm []byte, o freeze.Options, workers int) (*freeze.Program, *verdict, error) {
	if err := weighed(wasm); err != nil {
		return nil, nil, err
	}
	// The pass does not check what it is given, and nothing else has yet: what it makes of a module, or how it fails, is
	// of no account where the module is not valid. Its process ends then, so nobody waits for it.
	var prog *freeze.Program
	pass := func() (err error) {
		prog, err = freeze.Instrument(wasm, o)
		return err
	}
	passed := make(chan error, 1)
	if workers > 1 {
		go func() { passed <- caught(pass) }()
	}
	if err := validateWeighed(ctx, wasm); err != nil {
		return nil, nil, err
	}
	if workers <= 1 {
		passed <- pass()
	}
	err := <-passed
	if errors.Is(err, freeze.ErrRefused) {
		return nil, &verdict{refused: true, about: []byte(err.Error())}, err
	}
	if err != nil {
		return nil, nil, err
	}
	var l bytes.Buffer
	if err := gob.NewEncoder(&l).Encode(prog.Layout); err != nil {
		return nil, nil, fmt.Errorf("encoding a layout: %w", err)
	}
	return prog, &verdict{about: l.Bytes(), wasm: prog.Wasm}, nil
}

// caught does something, and makes an error of a panic.
func caught(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("putting safe points into a module: %v", p)
		}
	}()
	return do()
}
