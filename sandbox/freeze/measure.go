package freeze

import (
	"sort"

	"godwit/sandbox/wasm"
)

// path is a construct while the joints are gone through forwards.
type path struct {
	opener int32
	least  uint64 // of the ways to its end
	before uint64 // loop: of the ways to its entry; if: to its beginning
}

// measurer goes through a skeleton's joints forwards.
type measurer struct {
	*skeleton
	paths []path
	loops []int  // those of paths that are loops
	begin uint64 // what a region's beginning costs by itself
	now   uint64 // the cost of the cheapest way here
}

// measure finds the cheapest ways to the joints. begin is what a region's beginning costs by itself.
func (s *skeleton) measure(begin uint64) {
	m := &measurer{skeleton: s, paths: []path{{opener: -1, least: unreached}}, begin: begin, now: begin}
	for k := range s.joints {
		j := &s.joints[k]
		if m.now != unreached {
			m.now = min(m.now+j.cost, maxCost)
		}
		j.least = m.now
		m.joint(int32(k), j)
	}
}

// joint goes on behind a joint.
func (m *measurer) joint(k int32, j *joint) {
	switch j.op {
	case wasm.OpBlock, wasm.OpIf:
		m.paths = append(m.paths, path{k, unreached, m.now})
	case wasm.OpLoop:
		m.paths = append(m.paths, path{k, unreached, m.now})
		if !m.dispatching(k) {
			m.loops = append(m.loops, len(m.paths)-1)
			m.now = m.begin
		}
	case wasm.OpElse:
		p := &m.paths[len(m.paths)-1]
		p.least, m.now = min(p.least, m.now), p.before
	case wasm.OpEnd:
		m.leave(j)
	case wasm.OpBr:
		if !m.jumping(j) {
			m.to(j.a)
		} else if k := sort.Search(len(m.paths), func(k int) bool { return m.paths[k].opener >= j.jump }); k < len(m.paths) &&
			m.paths[k].opener == j.jump {
			m.paths[k].least = min(m.paths[k].least, m.now)
		}
		m.now = unreached
	case wasm.OpBrIf:
		m.to(j.a)
	case wasm.OpBrTable:
		labels := m.labels[j.first : j.first+int32(j.a)]
		if m.jumping(j) {
			labels = m.labels[j.first:][:1]
		}
		for _, l := range labels {
			m.to(l)
		}
		m.now = unreached
	case wasm.OpReturn, wasm.OpUnreachable:
		m.now = unreached
	}
}

// to takes in a branch to the label at a depth.
func (m *measurer) to(depth uint32) {
	t := len(m.paths) - 1 - int(depth)
	if t < 0 {
		return
	}
	way := m.now
	if k := sort.SearchInts(m.loops, t+1); k < len(m.loops) { // it leaves this loop and those in it
		way = m.paths[m.loops[k]].before
	}
	m.paths[t].least = min(m.paths[t].least, way)
}

// leave ends a construct.
func (m *measurer) leave(j *joint) {
	p := m.paths[len(m.paths)-1]
	m.paths = m.paths[:len(m.paths)-1]
	switch {
	case j.match >= 0 && m.joints[j.match].op == wasm.OpLoop:
		if m.dispatching(j.match) {
			break
		}
		m.loops = m.loops[:len(m.loops)-1]
		if m.now != unreached {
			m.now = p.before
		}
	case j.match >= 0 && m.joints[j.match].op == wasm.OpIf && m.joints[j.match].els < 0:
		m.now = min(m.now, p.least, p.before)
	default:
		m.now = min(m.now, p.least)
	}
	j.least = m.now
}
