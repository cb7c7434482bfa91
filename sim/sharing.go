package sim

// A host's running tasks are a pairing heap (Fredman and others 1986) by
// endWork: linked through the tasks, so that it needs no memory of its own, and
// of one node for most hosts. All of a host's tasks advance alike, so that one
// clock of work done for each tells when the first ends however their number and
// the speed change.

// meld joins two heaps.
func (ts *tasks) meld(a, b int32) int32 {
	if a == none {
		return b
	}
	if b == none {
		return a
	}
	s := ts.slots
	if s[b].endWork < s[a].endWork || s[b].endWork == s[a].endWork && s[b].id < s[a].id {
		a, b = b, a
	}
	s[b].sib = s[a].child
	s[a].child = b
	return a
}

// popRoot returns the heap without its root.
func (ts *tasks) popRoot(root int32) int32 {
	s := ts.slots
	pairs, c := none, s[root].child
	for c != none {
		a := c
		b := s[a].sib
		c = none
		if b != none {
			c = s[b].sib
			s[b].sib = none
		}
		s[a].sib = none
		p := ts.meld(a, b)
		s[p].sib = pairs
		pairs = p
	}
	out := none
	for pairs != none {
		p := pairs
		pairs = s[p].sib
		s[p].sib = none
		out = ts.meld(out, p)
	}
	s[root].child = none
	return out
}

// without returns the heap without one of its tasks. That takes time in
// proportion to the heap unless it is the root: tasks stop out of turn only when
// they move.
func (ts *tasks) without(root, i int32) int32 {
	if root == i {
		return ts.popRoot(root)
	}
	out := none
	var all []int32
	for stack := []int32{root}; len(stack) > 0; {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for c := ts.slots[t].child; c != none; c = ts.slots[c].sib {
			stack = append(stack, c)
		}
		all = append(all, t)
	}
	for _, t := range all {
		ts.slots[t].child, ts.slots[t].sib = none, none
		if t != i {
			out = ts.meld(out, t)
		}
	}
	return out
}
