package freeze

import (
	"math"

	"godwit/sandbox/wasm"
)

// A skeleton is a function's control flow: its joints, and what the code between them costs.
type skeleton struct {
	joints []joint
	labels []uint32 // targets of all br_tables, each table's followed by its default
	open   []int32  // while building: the constructs around, by their joints; -1 for the function
	cost   uint64   // while building: of the code since the last joint
	dead   int      // while building: constructs open in code that cannot be reached
	last   [2]near  // while building: the instructions before, the latest first
	// dispatches are the loops of thread.go, by their joint.
	dispatches map[int32]dispatch
}

// A step is an instruction as a skeleton takes it in.
type step struct {
	op     wasm.Opcode
	at     int32 // the instruction, as whoever builds the skeleton counts them
	cost   uint64
	a      uint32 // br, br_if: the depth; the index of a local
	void   bool   // block, loop: it has neither parameters nor results
	params bool   // loop: it has parameters
	bits   uint64 // of a constant
	labels []uint32
}

// A joint is an instruction at which control parts or meets.
type joint struct {
	op    wasm.Opcode
	at    int32  // the instruction, as whoever builds the skeleton counts them
	cost  uint64 // of the code since the joint before, with this instruction's own
	a     uint32 // br, br_if: the depth; br_table: how many labels
	first int32  // br_table: its first label
	match int32  // opener and else: its end; end: its opener, -1 for the function
	els   int32  // if: its else; -1 if it has none
	fall  bool   // end, else: the code before it can go on into it
	backs int    // loop: branches back to it
	jumps int    // loop: those of them that are jumps of thread.go
	head  bool   // loop: it must charge at its head, since it has parameters or a br_table leads back to it
	void  bool   // block, loop: it has neither parameters nor results
	jump  int32  // br: the block that it leaves by way of a dispatching loop
	loop  int32  // br: that loop; br_table: the loop that it is at the head of; -1 if there is none
	// straight says that no instruction stands between the joint before and this one.
	straight bool
	// least is the cost of the cheapest way here from where the region begins: the function, or the loop around.
	// It is unreached where there is none.
	least uint64
}

const (
	// maxCost bounds the charge of one loop or function, so that fuel cannot overflow.
	maxCost   = 1 << 20
	unreached = math.MaxUint64
)

func newSkeleton() *skeleton { return &skeleton{open: []int32{-1}} }

// near is what is remembered of an instruction for those that follow.
type near struct {
	op   wasm.Opcode
	at   int32
	a    uint32
	bits uint64
}

// add takes in the next instruction.
func (s *skeleton) add(i *step) {
	op := i.op
	if s.dead > 0 && !s.revives(op) {
		return
	}
	before := s.last
	s.last[1], s.last[0] = before[0], near{op, i.at, i.a, i.bits}
	s.cost = min(s.cost+i.cost, maxCost)
	switch op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpElse, wasm.OpEnd, wasm.OpBr, wasm.OpBrIf, wasm.OpBrTable,
		wasm.OpReturn, wasm.OpUnreachable:
	default:
		return
	}
	k := int32(len(s.joints))
	j := joint{op: op, at: i.at, cost: s.cost, a: i.a, match: -1, els: -1, loop: -1, fall: s.dead == 0, void: i.void,
		head:     i.params,
		straight: k > 0 && s.joints[k-1].at == before[0].at}
	s.cost, s.dead = 0, 0
	switch op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		s.open = append(s.open, k)
	case wasm.OpElse:
		if o := s.open[len(s.open)-1]; o >= 0 {
			s.joints[o].els = k
		}
	case wasm.OpEnd:
		if n := len(s.open) - 1; n >= 0 {
			s.close(k, &j, s.open[n])
			s.open = s.open[:n]
		}
	case wasm.OpBrTable:
		j.first, j.a = int32(len(s.labels)), uint32(len(i.labels))
		s.labels = append(s.labels, i.labels...)
		for _, l := range i.labels {
			s.leadsBack(l, true)
		}
		if before[0].op == wasm.OpLocalGet && k > 0 && s.joints[k-1].at == before[1].at {
			j.loop = s.noteDispatch(k, before[0].a)
		}
		s.dead = 1
	case wasm.OpBr, wasm.OpBrIf:
		s.leadsBack(i.a, false)
		if op == wasm.OpBr && before[0].op == wasm.OpLocalSet && before[1].op == wasm.OpI32Const {
			if j.jump, j.loop = s.noteJump(i.a, before[0].a, before[1].bits); j.loop >= 0 {
				s.joints[j.loop].jumps++
			}
		}
	}
	if op == wasm.OpBr || op == wasm.OpReturn || op == wasm.OpUnreachable {
		s.dead = 1
	}
	s.joints = append(s.joints, j)
}

func (s *skeleton) leadsBack(depth uint32, table bool) {
	if k := len(s.open) - 1 - int(depth); k >= 0 && s.open[k] >= 0 {
		if o := &s.joints[s.open[k]]; o.op == wasm.OpLoop {
			o.backs++
			o.head = o.head || table
		}
	}
}

// dispatching reports whether a loop's jumps pay for themselves: a switch in a loop begins like one that
// dispatches, but
// most of its branches back do not say where they lead.
func (s *skeleton) dispatching(loop int32) bool {
	_, ok := s.dispatches[loop]
	j := &s.joints[loop]
	return ok && !j.head && 2*j.jumps > j.backs
}

// charging reports whether a loop charges at its head, and not where branches lead back.
func (s *skeleton) charging(loop int32) bool {
	j := &s.joints[loop]
	return j.head || j.backs > maxBackEdges && !s.dispatching(loop)
}

// jumping reports whether a joint is a jump through a dispatching loop, or the br_table at the head of one.
func (s *skeleton) jumping(j *joint) bool { return j.loop >= 0 && s.dispatching(j.loop) }

func (s *skeleton) close(end int32, j *joint, opener int32) {
	j.match = opener
	if opener < 0 {
		return
	}
	o := &s.joints[opener]
	o.match = end
	if o.els >= 0 {
		s.joints[o.els].match = end
	}
}

// revives reports whether an instruction ends code that cannot be reached.
func (s *skeleton) revives(op wasm.Opcode) bool {
	switch op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		s.dead++
	case wasm.OpElse:
		return s.dead == 1
	case wasm.OpEnd:
		if s.dead > 1 {
			s.dead--
			return false
		}
		return true
	}
	return false
}
