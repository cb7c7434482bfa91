package place

import "cmp"

// ranked are hosts as a heap in the order of better: a task mostly goes to the
// first, which then moves far back, and there may be very many. Package heap, which
// calls a function to compare two, makes a round of 1,000 hosts take 10 % longer.
type ranked []rank

// A rank is what better looks at, of the host at a place in a list by name.
type rank struct {
	busy    bool
	room    int // idle slots that may be filled, if the order goes by them, else 0
	speed   float64
	running int
	at      int
}

// rankOf returns the rank of a host. byRoom puts hosts with more idle slots first.
func rankOf(h *Host, at int, byRoom bool) rank {
	r := rank{busy: h.Idle() == 0, speed: h.Speed, running: h.Running, at: at}
	if byRoom {
		r.room = h.startable()
	}
	return r
}

// before is better, in fewer steps, after a comparison of idle slots.
func (r *rank) before(o *rank) bool {
	if r.busy != o.busy {
		return o.busy
	}
	if r.room != o.room {
		return r.room > o.room
	}
	if c := cmp.Compare(o.speed, r.speed); c != 0 {
		return c < 0
	}
	if r.running != o.running {
		return r.running < o.running
	}
	return r.at < o.at
}

func (h ranked) init() {
	for k := len(h)/2 - 1; k >= 0; k-- {
		h.down(k)
	}
}

func (h *ranked) push(r rank) {
	*h = append(*h, r)
	h.up(len(*h) - 1)
}

func (h *ranked) remove(k int) {
	last := len(*h) - 1
	(*h)[k] = (*h)[last]
	*h = (*h)[:last]
	if k < last {
		h.fix(k)
	}
}

// changed brings the rank at k up to date with its host, and takes it out when
// the host is full.
func (h *ranked) changed(k int, host *Host, byRoom bool) {
	if host.Free <= 0 {
		h.remove(k)
		return
	}
	(*h)[k] = rankOf(host, (*h)[k].at, byRoom)
	h.fix(k)
}

func (h ranked) fix(k int) {
	h.up(k)
	h.down(k)
}

func (h ranked) up(k int) {
	for k > 0 {
		parent := (k - 1) / 2
		if !h[k].before(&h[parent]) {
			return
		}
		h[k], h[parent] = h[parent], h[k]
		k = parent
	}
}

func (h ranked) down(k int) {
	for {
		first := k
		for child := 2*k + 1; child <= 2*k+2 && child < len(h); child++ {
			if h[child].before(&h[first]) {
				first = child
			}
		}
		if first == k {
			return
		}
		h[k], h[first] = h[first], h[k]
		k = first
	}
}
