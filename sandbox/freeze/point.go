package freeze

import (
	"math/bits"

	"godwit/sandbox/wasm"
)

// pointKind says what a safe point is.
type pointKind byte

const (
	pointEntry pointKind = iota // poll when the function is entered
	pointLoop                   // poll when the loop goes round
	pointCall                   // a call that may unwind
)

// point is a place where a function may leave a frame and be resumed.
type point struct {
	kind  pointKind
	ins   int32          // the loop or call; -1 for the entry
	below []wasm.ValType // operands on the stack, without a call's arguments
	live  []uint32       // locals whose values are used later
	saved []slot         // what the frame holds
	size  uint32         // bytes of the frame without its trailer
	refs  [2]uint32      // function and external references saved
	exit  int32          // index in the function's exits: the code that leaves the frame
}

// slot is a value in a frame: a local and where it is stored. References are pushed on a stack of their own.
type slot struct {
	local  uint32
	typ    wasm.ValType
	offset uint32
	canon  shape // what it may hold a NaN with the machine's bits of
}

// trailerSize is the size of what ends a frame: u32 point, u32 size of the frame without the trailer.
const trailerSize = 8

// addPoint makes a safe point at instruction at with height operands that outlive it, and has those kept
// in temporaries.
func (f *function) addPoint(kind pointKind, at int32, height int) {
	if !f.p.Funcs[f.index-f.p.imported].Unwinds {
		return
	}
	pt := point{kind: kind, ins: at}
	for h := 0; h < height; h++ {
		pt.below = append(pt.below, f.stack[h].typ)
		if h < f.marked {
			continue
		}
		v := f.stack[h]
		f.observeValue(v)
		if p := &f.ins[v.from]; p.spill < 0 || v.nth < p.spill {
			p.spill = v.nth
		}
	}
	f.marked = max(f.marked, height)
	if at >= 0 {
		f.ins[at].point = int32(len(f.points))
	}
	f.points = append(f.points, pt)
}

// bitset is a set of locals.
type bitset []uint64

func (s bitset) add(x uint32)    { s[x>>6] |= 1 << (x & 63) }
func (s bitset) remove(x uint32) { s[x>>6] &^= 1 << (x & 63) }
func (s bitset) union(t bitset) (grew bool) {
	for i, w := range t {
		if w&^s[i] != 0 {
			s[i] |= w
			grew = true
		}
	}
	return grew
}

func (s bitset) members() (out []uint32) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, uint32(i*64+bits.TrailingZeros64(w)))
		}
	}
	return out
}

// liveFrame is a construct while the body is read backwards.
type liveFrame struct {
	opener int32
	after  bitset // live after its end
	els    bitset // live at the beginning of its else
}

// findLive finds the locals that are live at each safe point: those that may be read before they are
// written. It reads the body backwards until the sets at loop heads no longer grow.
func (f *function) findLive() error {
	words := (len(f.locals) + 63) / 64
	branches := 1
	for i := range f.ins {
		switch f.ins[i].op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpEnd, wasm.OpBr, wasm.OpBrIf, wasm.OpElse:
			branches++
		case wasm.OpBrTable:
			branches += int(f.ins[i].a)
		}
	}
	for _, l := range f.loops {
		l.live = make([]uint64, words)
	}
	for work := words * branches; ; work += words * branches {
		if work > maxWork {
			return f.refuse(f.code.Offset, "%d locals and %d branches are too many to follow", len(f.locals), branches)
		}
		if !f.passLive(words) {
			break
		}
	}
	return nil
}

// passLive reads the body backwards once and reports whether a set at a loop head grew.
func (f *function) passLive(words int) (grew bool) {
	cur := make(bitset, words)
	var frames []liveFrame
	clone := func() bitset { return append(bitset(nil), cur...) }
	target := func(depth uint32) bitset {
		fr := &frames[len(frames)-1-int(depth)]
		if fr.opener >= 0 && f.ins[fr.opener].op == wasm.OpLoop {
			return f.loops[fr.opener].live
		}
		return fr.after
	}
	for at := int32(len(f.ins)) - 1; at >= 0; at-- {
		i := &f.ins[at]
		if i.point >= 0 && i.op != wasm.OpLoop {
			f.points[i.point].live = cur.members()
		}
		switch i.op {
		case wasm.OpLocalGet:
			cur.add(i.a)
		case wasm.OpLocalSet, wasm.OpLocalTee:
			cur.remove(i.a)
		case wasm.OpEnd:
			frames = append(frames, liveFrame{opener: i.match, after: clone()})
		case wasm.OpElse:
			fr := &frames[len(frames)-1]
			fr.els = clone()
			copy(cur, fr.after)
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			fr := &frames[len(frames)-1]
			if i.op == wasm.OpIf && fr.els != nil {
				cur.union(fr.els)
			} else if i.op == wasm.OpIf {
				cur.union(fr.after)
			} else if i.op == wasm.OpLoop {
				grew = bitset(f.loops[at].live).union(cur) || grew
				cur.union(f.loops[at].live)
				if i.point >= 0 {
					f.points[i.point].live = cur.members()
				}
			}
			frames = frames[:len(frames)-1]
		case wasm.OpBr:
			copy(cur, target(i.a))
		case wasm.OpBrIf:
			cur.union(target(i.a))
		case wasm.OpBrTable:
			clear(cur)
			for _, l := range f.labels[i.els : i.els+int32(i.a)] {
				cur.union(target(l))
			}
		case wasm.OpReturn, wasm.OpUnreachable:
			clear(cur)
		}
	}
	if len(f.points) > 0 && f.points[0].kind == pointEntry {
		f.points[0].live = cur.members()
	}
	return grew
}

func (p *plan) sizeFrame(pt *point) {
	pt.size = (pt.size + 7) &^ 7
	p.maxFrame = max(p.maxFrame, pt.size)
}

func (pt *point) add(local uint32, t wasm.ValType, canon shape) {
	switch t {
	case wasm.FuncRef:
		pt.refs[0]++
	case wasm.ExternRef:
		pt.refs[1]++
	}
	pt.saved = append(pt.saved, slot{local, t, pt.size, canon})
	pt.size += t.Size()
}
