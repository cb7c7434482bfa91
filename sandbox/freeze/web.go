package freeze

import "godwit/sandbox/wasm"

// Compilers put what has nothing to do with each other into one local, one after the other. A web is what belongs
// together of a local: values that are put into it and the places where one or the other of them is read. Where ways
// meet that bring different webs there is a meeting, which is a web of its own until something reads it: only then do
// those that it meets become one. So what is not read again joins nothing.

// webs tells the webs of a function's floats and vectors in locals.
type webs struct {
	of      map[int32]int32 // by the instruction that reads or sets a local
	parent  []int32         // of each web, towards the one that stands for it
	met     [][]int32       // what meets in a web that nothing has read yet
	read    []bool
	foreign []bool // holds a parameter's first value
	index   map[uint32]int
	first   []int32   // the webs of the locals at the function's beginning, by index
	points  [][]int32 // the same at safe points
}

// maxWeaving bounds the work on one function: beyond it all that a local ever holds is one web.
const maxWeaving = 1 << 20

// webOf gives the web of what an instruction reads or sets, or -1.
func (w *webs) webOf(ins int32) int32 {
	if web, ok := w.of[ins]; ok {
		return web
	}
	return -1
}

// given reports whether a web holds a parameter that the caller gave.
func (w *webs) given(web int32) bool { return w.foreign[web] }

func (w *webs) find(web int32) int32 {
	for w.parent[web] != web {
		w.parent[web] = w.parent[w.parent[web]]
		web = w.parent[web]
	}
	return web
}

// spin makes a web, in which others meet.
func (w *webs) spin(foreign bool, met ...int32) int32 {
	n := int32(len(w.parent))
	w.parent, w.met = append(w.parent, n), append(w.met, met)
	w.read, w.foreign = append(w.read, false), append(w.foreign, foreign)
	return n
}

// use takes in that a web is read: all that meets in it is one with it.
func (w *webs) use(web int32) {
	for todo := []int32{web}; len(todo) > 0; {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if w.read[x] {
			continue
		}
		w.read[x] = true
		for _, y := range w.met[x] {
			w.join(x, y)
			todo = append(todo, y)
		}
		w.met[x] = nil
	}
}

func (w *webs) join(x, y int32) {
	x, y = w.find(x), w.find(y)
	w.parent[y] = x
	w.foreign[x] = w.foreign[x] || w.foreign[y]
}

// meet has what a way brings meet in a web.
func (w *webs) meet(web, brought int32) {
	switch {
	case web == brought:
	case w.read[web]:
		w.use(brought)
		w.join(web, brought)
	default:
		w.met[web] = append(w.met[web], brought)
	}
}

// crossing is a construct while the body is read forwards.
type crossing struct {
	opener int32
	to     []int32 // the webs where branches to it lead; nil if there are none yet
	other  []int32 // if: those at its beginning, for what comes without its first arm
}

// weaver reads a body forwards. now are the webs of the locals, by index; nil where control does not come.
type weaver struct {
	*webs
	f    *function
	now  []int32
	open []crossing
}

// weave finds the webs of the locals that hold floats or vectors.
func (f *function) weave() {
	v := &weaver{webs: &f.flows.webs, f: f}
	v.of, v.index = map[int32]int32{}, map[uint32]int{}
	ways := 1
	for at := range f.ins {
		switch i := &f.ins[at]; i.op {
		case wasm.OpLocalSet, wasm.OpLocalTee:
			if _, ok := v.index[i.a]; !ok && isFloat(f.locals[i.a]) {
				v.index[i.a] = len(v.first)
				v.first = append(v.first, v.spin(int(i.a) < len(f.typ.Params)))
			}
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpElse, wasm.OpEnd, wasm.OpBr, wasm.OpBrIf:
			ways++
		case wasm.OpBrTable:
			ways += int(i.a)
		}
	}
	v.points = make([][]int32, len(f.points))
	if len(f.points) > 0 && f.points[0].kind == pointEntry {
		v.points[0] = v.first
	}
	whole := (ways+len(f.points))*len(v.first) > maxWeaving
	v.now = append([]int32(nil), v.first...)
	v.open = []crossing{{opener: -1}}
	for at := range f.ins {
		if whole {
			v.local(int32(at), true)
			if p := f.ins[at].point; p >= 0 {
				v.points[p] = v.first
			}
			continue
		}
		if v.now == nil { // nothing comes here
			v.now = append(v.now, v.first...)
		}
		v.step(int32(at))
	}
	v.met = nil
}

// local takes in an instruction that reads or sets a local; whole says that all that a local holds is one web.
func (v *weaver) local(at int32, whole bool) {
	i := &v.f.ins[at]
	if i.op != wasm.OpLocalGet && i.op != wasm.OpLocalSet && i.op != wasm.OpLocalTee {
		return
	}
	k, ok := v.index[i.a]
	if !ok {
		return
	}
	if i.op != wasm.OpLocalGet && !whole {
		v.now[k] = v.spin(false)
	}
	v.of[at] = v.now[k]
	if i.op == wasm.OpLocalGet {
		v.use(v.now[k])
	}
}

func (v *weaver) step(at int32) {
	i := &v.f.ins[at]
	if i.point >= 0 && i.op != wasm.OpLoop {
		v.points[i.point] = append([]int32(nil), v.now...)
	}
	switch i.op {
	case wasm.OpBlock:
		v.open = append(v.open, crossing{opener: at})
	case wasm.OpIf:
		v.open = append(v.open, crossing{opener: at, other: append([]int32(nil), v.now...)})
	case wasm.OpLoop:
		head := make([]int32, len(v.now))
		for k, x := range v.now {
			head[k] = v.spin(false, x)
		}
		v.now = append(v.now[:0], head...)
		v.open = append(v.open, crossing{opener: at, to: head})
		if i.point >= 0 {
			v.points[i.point] = head
		}
	case wasm.OpElse:
		c := &v.open[len(v.open)-1]
		if v.now != nil {
			v.bring(c, v.now)
		}
		v.now, c.other = c.other, nil
	case wasm.OpEnd:
		v.close()
	case wasm.OpBr, wasm.OpBrIf:
		v.branch(i.a)
	case wasm.OpBrTable:
		for _, l := range v.f.labels[i.els : i.els+int32(i.a)] {
			v.branch(l)
		}
	default:
		v.local(at, false)
	}
	switch i.op {
	case wasm.OpBr, wasm.OpBrTable, wasm.OpReturn, wasm.OpUnreachable:
		v.now = nil
	}
}

// branch takes in that control may go from here to the label at a depth.
func (v *weaver) branch(depth uint32) {
	c := &v.open[len(v.open)-1-int(depth)]
	if c.opener >= 0 && v.f.ins[c.opener].op == wasm.OpLoop {
		for k, x := range v.now {
			v.meet(c.to[k], x)
		}
		return
	}
	v.bring(c, v.now)
}

// bring has a way lead to a construct's end.
func (v *weaver) bring(c *crossing, now []int32) {
	if c.to == nil {
		c.to = append([]int32(nil), now...)
		return
	}
	for k, x := range now {
		if c.to[k] != x {
			c.to[k] = v.spin(false, c.to[k], x)
		}
	}
}

// close ends a construct.
func (v *weaver) close() {
	c := &v.open[len(v.open)-1]
	v.open = v.open[:len(v.open)-1]
	if c.opener >= 0 && v.f.ins[c.opener].op == wasm.OpLoop {
		return
	}
	if v.now != nil {
		v.bring(c, v.now)
	}
	if c.other != nil {
		v.bring(c, c.other)
	}
	v.now = c.to
}
