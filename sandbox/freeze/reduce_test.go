package freeze_test

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"time"

	"godwit/sandbox/wasm"
)

// reducer makes a failing module small: it leaves out or simplifies whatever can be without which the module is still
// valid and still fails.
type reducer struct {
	m     *wasm.Module
	test  func(module []byte) error // nil if the module does not fail
	err   error                     // of the smallest so far
	tries int
	until time.Time
}

// reduceMost bounds how many modules are tried, reduceTime how long.
const (
	reduceMost = 6000
	reduceTime = 2 * time.Minute
)

// reduce gives the smallest module that it finds that makes a difference in the same way of running it, and which.
func reduce(ctx context.Context, d *differ, as *difference) ([]byte, error) {
	return reduceBy(d.module, as, func(module []byte) error {
		again := &differ{module: module, options: d.options, raw: d.raw, only: as.way, choice: d.choice}
		err := again.compare(ctx)
		var df *difference
		if !errors.As(err, &df) || errors.Is(err, errSkip) || df.way != as.way {
			return nil
		}
		return err
	})
}

// reduceBy gives the smallest module that it finds that still fails the test, and how.
func reduceBy(module []byte, as error, test func([]byte) error) ([]byte, error) {
	m, err := wasm.Decode(module)
	if err != nil {
		return module, as
	}
	m.Customs = nil
	r := &reducer{m: m, test: test, err: as, until: time.Now().Add(reduceTime)}
	for size := -1; size != r.size() && !r.spent(); {
		size = r.size()
		for f := range m.Code {
			r.function(f)
		}
		for f := range m.Code {
			r.locals(f)
		}
		r.segments()
	}
	return wasm.Encode(m), r.err
}

func (r *reducer) size() int { return len(wasm.Encode(r.m)) }

func (r *reducer) spent() bool { return r.tries >= reduceMost || time.Now().After(r.until) }

// fails reports whether the module as it is now still fails.
func (r *reducer) fails() bool {
	if r.spent() {
		return false
	}
	r.tries++
	err := r.test(wasm.Encode(r.m))
	if err != nil {
		r.err = err
	}
	return err != nil
}

// attempt makes a change, and takes it back unless the module still fails.
func (r *reducer) attempt(do, undo func()) bool {
	do()
	if r.fails() {
		return true
	}
	undo()
	return false
}

// piece is one instruction of a body.
type piece struct {
	in    wasm.Instr
	bytes []byte
}

// pieces splits a body; nil if it cannot be read.
func pieces(code *wasm.Code) []piece {
	var out []piece
	for r := wasm.NewReader(code); !r.Done(); {
		var p piece
		if err := r.Next(&p.in); err != nil {
			return nil
		}
		p.in.Labels = slices.Clone(p.in.Labels)
		p.bytes = code.Body[p.in.Start:p.in.End]
		out = append(out, p)
	}
	return glue(out)
}

// canonicalTails are the instructions that the generator writes behind one that may make a NaN. Without them a module
// would differ for another reason.
var canonicalTails = [][]wasm.Opcode{
	{wasm.OpLocalTee, wasm.OpF32Const, wasm.OpLocalGet, wasm.OpLocalGet, wasm.OpF32Eq, wasm.OpSelect},
	{wasm.OpLocalTee, wasm.OpF64Const, wasm.OpLocalGet, wasm.OpLocalGet, wasm.OpF64Eq, wasm.OpSelect},
	{wasm.OpLocalTee, wasm.OpLocalGet, wasm.OpLocalGet, wasm.OpF32x4Eq, 0xfd4e},
	{wasm.OpLocalTee, wasm.OpLocalGet, wasm.OpLocalGet, wasm.OpF64x2Eq, 0xfd4e},
}

// glue makes such an instruction and what follows it one piece.
func glue(ps []piece) []piece {
	var out []piece
	for k := 0; k < len(ps); k++ {
		p := ps[k]
		for _, tail := range canonicalTails {
			if k+len(tail) < len(ps) && slices.EqualFunc(ps[k+1:k+1+len(tail)], tail,
				func(p piece, op wasm.Opcode) bool { return p.in.Op == op }) {
				p.bytes = join(ps[k : k+1+len(tail)])
				k += len(tail)
				break
			}
		}
		out = append(out, p)
	}
	return out
}

func join(ps []piece) []byte {
	var out []byte
	for _, p := range ps {
		out = append(out, p.bytes...)
	}
	return out
}

// body tries another body for a function.
func (r *reducer) body(f int, ps []piece) bool {
	old := r.m.Code[f].Body
	return r.attempt(func() { r.m.Code[f].Body = join(ps) }, func() { r.m.Code[f].Body = old })
}

// function makes one function smaller.
func (r *reducer) function(f int) {
	if len(r.m.Code[f].Body) <= 1 {
		return
	}
	results := r.m.Types[r.m.Funcs[f]].Results
	if r.body(f, append(zeros(results), made(wasm.OpEnd))) {
		return
	}
	if r.body(f, []piece{made(wasm.OpUnreachable), made(wasm.OpEnd)}) {
		return
	}
	r.cut(f)
	r.unwrap(f)
	r.simplify(f)
	r.cancel(f)
}

// cut leaves out runs of instructions, long ones first, and whole constructs.
func (r *reducer) cut(f int) {
	ps := pieces(&r.m.Code[f])
	for n := 1 << bits.Len(uint(len(ps)/2)); n > 0; n /= 2 {
		for at := 0; at+n < len(ps); {
			if rest := slices.Concat(ps[:at], ps[at+n:]); r.body(f, rest) {
				ps = rest
			} else {
				at += max(1, n/2)
			}
		}
	}
	for at := 0; at < len(ps); at++ {
		end := closes(ps, at)
		if end < 0 {
			continue
		}
		if rest := slices.Concat(ps[:at], ps[end+1:]); r.body(f, rest) {
			ps = rest
			at--
			continue
		}
		t, err := r.m.BlockType(ps[at].in.Block)
		if err != nil {
			continue
		}
		drops := slices.Repeat([]piece{made(wasm.OpDrop)}, len(t.Params)+btoi(ps[at].in.Op == wasm.OpIf))
		if rest := slices.Concat(ps[:at], drops, zeros(t.Results), ps[end+1:]); len(rest) < len(ps) && r.body(f, rest) {
			ps = rest
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// closes gives the index of the end of the construct that begins at a piece, or -1.
func closes(ps []piece, at int) int {
	depth := 0
	for k := at; k < len(ps); k++ {
		switch ps[k].in.Op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			depth++
		case wasm.OpEnd:
			depth--
		}
		if depth == 0 {
			if k == at {
				return -1
			}
			return k
		}
	}
	return -1
}

// unwrap leaves out the beginning and end of constructs, and one arm of ifs.
func (r *reducer) unwrap(f int) {
	ps := pieces(&r.m.Code[f])
	for at := 0; at < len(ps); at++ {
		end := closes(ps, at)
		if end < 0 {
			continue
		}
		inside := lift(ps[at+1 : end])
		first := []piece{}
		if ps[at].in.Op == wasm.OpIf {
			first = append(first, made(wasm.OpDrop))
		}
		if inside == nil {
			continue
		}
		for _, arm := range arms(inside) {
			if rest := slices.Concat(ps[:at], first, arm, ps[end+1:]); r.body(f, rest) {
				ps = rest
				break
			}
		}
	}
}

// arms splits what stands in an if at its else; all of it if there is none.
func arms(ps []piece) [][]piece {
	depth := 0
	for k, p := range ps {
		switch p.in.Op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			depth++
		case wasm.OpEnd:
			depth--
		case wasm.OpElse:
			if depth == 0 {
				return [][]piece{ps[:k], ps[k+1:]}
			}
		}
	}
	return [][]piece{ps}
}

// lift gives code as it is to be when the construct around it is gone: branches out of that lead one less far. Nil if
// one leads to the construct itself.
func lift(ps []piece) []piece {
	out := make([]piece, 0, len(ps))
	depth := uint32(0)
	for _, p := range ps {
		switch p.in.Op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			depth++
		case wasm.OpEnd:
			depth--
		case wasm.OpBr, wasm.OpBrIf:
			if p.in.A == depth {
				return nil
			}
			if p.in.A > depth {
				p = made(p.in.Op, p.in.A-1)
			}
		case wasm.OpBrTable:
			ls := slices.Clone(p.in.Labels)
			for k, l := range ls {
				if l == depth {
					return nil
				}
				if l > depth {
					ls[k]--
				}
			}
			p = made(p.in.Op, append([]uint32{uint32(len(ls) - 1)}, ls...)...)
		}
		out = append(out, p)
	}
	return out
}
