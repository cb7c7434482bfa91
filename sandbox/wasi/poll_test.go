package wasi

import (
	"encoding/binary"
	"math"
	"testing"
)

// A sub is one subscription: of a clock, of a descriptor, or of what there is not.
type sub struct {
	mark  uint64
	tag   byte
	id    uint32 // of the clock, or the descriptor
	until uint64
	flags uint16
}

func (s sub) bytes() []byte {
	b := make([]byte, subscriptionSize)
	le := binary.LittleEndian
	le.PutUint64(b, s.mark)
	b[8] = s.tag
	le.PutUint32(b[16:], s.id)
	le.PutUint64(b[24:], s.until)
	le.PutUint16(b[40:], s.flags)
	return b
}

// A happening is one event of poll_oneoff.
type happening struct {
	mark  uint64
	errno Errno
	tag   byte
	size  uint64
}

// poll calls poll_oneoff on subscriptions at an address, and gives the events.
func (g *guest) poll(at, to uint32, subs ...sub) (events []happening) {
	g.Helper()
	for i, s := range subs {
		g.mem.Write(at+uint32(i)*subscriptionSize, s.bytes())
	}
	g.want(OK, "poll_oneoff", uint64(at), uint64(to), uint64(len(subs)), pageBytes-4)
	for i := range g.u32(pageBytes - 4) {
		b, _ := g.mem.Read(to+i*eventSize, eventSize)
		le := binary.LittleEndian
		events = append(events, happening{le.Uint64(b), Errno(le.Uint16(b[8:])), b[10], le.Uint64(b[16:])})
	}
	return events
}

// TestPoll: what happens at which time, for each kind of thing to wait for.
func TestPoll(t *testing.T) {
	const start = 5000 // the clock before
	for name, c := range map[string]struct {
		subs  []sub
		want  []happening
		clock int64
	}{
		"a wait": {[]sub{{1, eventClock, clockMonotonic, 1e9, 0}}, []happening{{1, OK, eventClock, 0}},
			start + 1e9},
		"no wait": {[]sub{{1, eventClock, clockMonotonic, 0, 0}}, []happening{{1, OK, eventClock, 0}},
			start},
		"the earlier of two": {[]sub{{1, eventClock, 1, 70, 0}, {2, eventClock, 1, 30, 0}},
			[]happening{{2, OK, eventClock, 0}}, start + 30},
		"two at once": {[]sub{{1, eventClock, 1, 30, 0}, {2, eventClock, 2, 30, 0}},
			[]happening{{1, OK, 0, 0}, {2, OK, 0, 0}}, start + 30},
		"until a time": {[]sub{{1, eventClock, clockMonotonic, 6000, absoluteTime}},
			[]happening{{1, OK, eventClock, 0}}, 6000},
		"until a date": {[]sub{{1, eventClock, clockRealtime, uint64(Epoch) + 7000, absoluteTime}},
			[]happening{{1, OK, eventClock, 0}}, 7000},
		"until it was": {[]sub{{1, eventClock, clockMonotonic, 10, absoluteTime}},
			[]happening{{1, OK, eventClock, 0}}, start},
		"until 1970": {[]sub{{1, eventClock, clockRealtime, 0, absoluteTime}},
			[]happening{{1, OK, eventClock, 0}}, start},
		"for ever": {[]sub{{1, eventClock, clockMonotonic, math.MaxUint64, 0}},
			[]happening{{1, OK, eventClock, 0}}, maxClock},
		"no such clock": {[]sub{{1, eventClock, 4, 1e9, 0}}, []happening{{1, EINVAL, eventClock, 0}}, start},
		"bad and good clock": {[]sub{{1, eventClock, 4, 1e9, 0}, {2, eventClock, 1, 5, 0}},
			[]happening{{1, EINVAL, eventClock, 0}}, start},
		"input":         {[]sub{{9, eventRead, 0, 0, 0}}, []happening{{9, OK, eventRead, 5}}, start},
		"output":        {[]sub{{9, eventWrite, 1, 0, 0}}, []happening{{9, OK, eventWrite, 1 << 16}}, start},
		"no descriptor": {[]sub{{9, eventRead, 77, 0, 0}}, []happening{{9, EBADF, eventRead, 0}}, start},
		"no such event": {[]sub{{9, 3, 0, 0, 0}}, []happening{{9, EINVAL, 3, 0}}, start},
		"input or a second": {[]sub{{1, eventClock, 1, 1e9, 0}, {2, eventRead, 0, 0, 0}},
			[]happening{{2, OK, eventRead, 5}}, start},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuest(t, New("t", nil, nil, roomy))
			g.SetStdin([]byte("typed"))
			g.Clock = start
			got := g.poll(0, 4096, c.subs...)
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("event %d: got %+v, want %+v", i, got[i], c.want[i])
				}
			}
			if g.Clock != c.clock {
				t.Errorf("the clock is at %d, want %d", g.Clock, c.clock)
			}
		})
	}
}

// TestPollInPlace: the events may be written over the subscriptions.
func TestPollInPlace(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	got := g.poll(0, 0, sub{1, eventWrite, 1, 0, 0}, sub{2, eventWrite, 2, 0, 0}, sub{3, eventRead, 0, 0, 0})
	for i, e := range got {
		if e.mark != uint64(i+1) || e.errno != OK {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d events, want 3", len(got))
	}
}

// TestPollRefuses: too few and too many subscriptions, and addresses that are none.
func TestPollRefuses(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	for _, n := range []uint64{0, maxPoll + 1, math.MaxUint32} {
		g.want(EINVAL, "poll_oneoff", 0, 0, n, 0)
	}
	g.want(OK, "poll_oneoff", 0, 0, maxPoll, 64)
	g.want(EFAULT, "poll_oneoff", pageBytes-subscriptionSize+1, 0, 1, 0)
	g.want(EFAULT, "poll_oneoff", 0, pageBytes-eventSize+1, 1, 0)
	g.want(EFAULT, "poll_oneoff", 0, 0, 1, pageBytes-3)
	g.want(EFAULT, "poll_oneoff", math.MaxUint32, math.MaxUint32, maxPoll, 0)
}

// TestReadinessCountsFromThePosition: a file has what is left of it.
func TestReadinessCountsFromThePosition(t *testing.T) {
	g := newGuest(t, New("t", nil, nil, roomy))
	fd := mustOpen(t, g.State, "f", openCreate, rightsAll)
	write(g.State, fd, "12345678")
	for _, c := range []struct{ at, left int64 }{{8, 0}, {3, 5}, {0, 8}, {99, 0}} {
		if _, errno := g.seek(fd, c.at, 0); errno != OK {
			t.Fatal(errno)
		}
		if got := g.poll(0, 4096, sub{1, eventRead, fd, 0, 0}); len(got) != 1 || got[0].size != uint64(c.left) {
			t.Errorf("at %d: %+v, want %d bytes", c.at, got, c.left)
		}
	}
}
