package message

// Room is memory for the effects of a machine's Steps, which mostly have one or two: they are cut from pieces of
// several. What was given out stays as it is. The zero value has none yet.
type Room struct{ rest []Effect } // empty, with the capacity that is left of a piece

const (
	// roomPiece is how many effects one piece of memory has: 256 bytes. It is held as long as any effect in it.
	roomPiece = 16
	// roomLeast is how many a Step finds room for without more memory.
	roomLeast = 4
)

// Begin returns an empty list with room, for the effects of one Step. The list before it was given to End.
func (r *Room) Begin() []Effect {
	if cap(r.rest) < roomLeast {
		r.rest = make([]Effect, 0, roomPiece)
	}
	return r.rest
}

// End returns the effects that were appended to what Begin returned, nil for none. Whoever appends to them
// has a copy.
func (r *Room) End(effects []Effect) []Effect {
	n := len(effects)
	if n == 0 {
		return nil
	}
	if n <= cap(r.rest) && &effects[0] == &r.rest[:1][0] { // else they were too many, and are elsewhere
		r.rest = effects[n:]
	}
	return effects[:n:n]
}
