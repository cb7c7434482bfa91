package trace

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Limits of what a reader keeps, against files made to exhaust memory.
const (
	// MaxHosts is four times the largest public set (230,000 hosts of SETI@home).
	MaxHosts = 1 << 20
	// MaxSpells holds a year of a hundred thousand busy hosts, in 1 GiB and
	// three while reading.
	MaxSpells = 1 << 26
	// MaxLine is longer than any line of the formats; an .avt line holds all
	// the sessions of a host.
	MaxLine = 16 << 20
	// maxName is the longest name of a host.
	maxName = 256
	// maxSeconds is the end of the year 9999, the last that RFC 3339 can write.
	maxSeconds = 253402300799
)

// A LineError is what is wrong in a line of a file.
type LineError struct {
	File string // its name, "" if it has none
	Line int    // from 1
	Err  error
}

// Error returns the file, the line and what is wrong there.
func (e *LineError) Error() string {
	file := e.File
	if file == "" {
		file = "line"
	}
	return fmt.Sprintf("%s:%d: %v", file, e.Line, e.Err)
}

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// A row is one line of an availability file.
type row struct {
	from, to int64 // Unix milliseconds
	state    State
	cpu      float64
}

// A builder collects rows, which come in order host by host, and makes
// histories of them when the whole file's bounds are known.
type builder struct {
	hosts  []rows
	index  map[string]int
	spells int
	first  int64 // the earliest and latest times of any row
	last   int64
}

type rows struct {
	name string
	ghz  float64
	rows []row
}

func newBuilder() *builder {
	return &builder{index: map[string]int{}, first: math.MaxInt64, last: math.MinInt64}
}

// host returns the rows of a host, new or known.
func (b *builder) host(name string) (*rows, error) {
	i, ok := b.index[name]
	if !ok {
		switch {
		case name == "":
			return nil, errors.New("no host is named")
		case len(name) > maxName:
			return nil, fmt.Errorf("a host's name of %d bytes: at most %d", len(name), maxName)
		case len(b.hosts) >= MaxHosts:
			return nil, fmt.Errorf("more than %d hosts", MaxHosts)
		}
		i = len(b.hosts)
		name = string([]byte(name)) // not the line that it is a part of
		b.index[name] = i
		b.hosts = append(b.hosts, rows{name: name})
	}
	return &b.hosts[i], nil
}

// add notes a row of a host. Rows may touch; they may not overlap.
func (b *builder) add(name string, r row) error {
	h, err := b.host(name)
	if err != nil {
		return err
	}
	if r.to < r.from {
		return fmt.Errorf("host %s: the end, %s, is before the start, %s", name, stamp(r.to), stamp(r.from))
	}
	if n := len(h.rows); n > 0 && r.from < h.rows[n-1].to {
		return fmt.Errorf("host %s: %s is before %s, the end of the row before: sort the rows by time", name, stamp(r.from),
			stamp(h.rows[n-1].to))
	}
	b.first, b.last = min(b.first, r.from), max(b.last, r.to)
	if n := len(h.rows); n > 0 && r.to > r.from {
		if p := &h.rows[n-1]; p.to == r.from && p.to > p.from && p.state == r.state && p.cpu == r.cpu {
			p.to = r.to // per-second files say the same again and again
			return nil
		}
	}
	if b.spells++; b.spells > MaxSpells {
		return fmt.Errorf("more than %d spells", MaxSpells)
	}
	h.rows = append(h.rows, r)
	return nil
}

// bounds sets t's Start and End, where the file does not say them, to those of
// the rows.
func (b *builder) bounds(t *Trace) {
	if b.first > b.last {
		return
	}
	if t.Start.IsZero() {
		t.Start = time.UnixMilli(b.first).UTC()
	}
	if t.End.IsZero() {
		t.End = time.UnixMilli(b.last).UTC()
	}
}

// close lets every row last to the host's next one, and the last one to end.
func (b *builder) close(end int64) {
	for i := range b.hosts {
		rs := b.hosts[i].rows
		for j := range rs {
			rs[j].to = end
			if j+1 < len(rs) {
				rs[j].to = rs[j+1].from
			}
		}
	}
}

// build makes t's hosts. Between rows, and from Start to the first and from the
// last to End, hosts are in state rest; where that is Unobserved they have no
// history before their first row and none after their last.
func (b *builder) build(t *Trace, rest State) error {
	b.bounds(t)
	for i := range b.hosts {
		h := &History{Host: b.hosts[i].name}
		if err := fill(h, b.hosts[i].rows, t, rest); err != nil {
			return fmt.Errorf("host %s: %w", h.Host, err)
		}
		t.Hosts = append(t.Hosts, Host{History: h, GHz: b.hosts[i].ghz})
		b.hosts[i].rows = nil
	}
	return nil
}

func fill(h *History, all []row, t *Trace, rest State) error {
	idle := func(at int64) error {
		if rest == Unobserved {
			return h.Gap(time.UnixMilli(at))
		}
		return h.Append(time.UnixMilli(at), rest, 0)
	}
	if rest != Unobserved && (len(all) == 0 || all[0].from > t.Start.UnixMilli()) {
		if err := idle(t.Start.UnixMilli()); err != nil {
			return err
		}
	}
	for i, r := range all {
		if err := h.Append(time.UnixMilli(r.from), r.state, r.cpu); err != nil {
			return err
		}
		end := t.End.UnixMilli()
		if rest == Unobserved {
			end = r.to
		}
		if i+1 < len(all) {
			end = all[i+1].from
		}
		if r.to < end {
			if err := idle(r.to); err != nil {
				return err
			}
		}
		if rest == Unobserved {
			h.Extend(time.UnixMilli(r.to))
		} else {
			h.Extend(time.UnixMilli(end))
		}
	}
	if rest != Unobserved {
		h.Extend(t.End)
	}
	return nil
}

// parseSeconds reads decimal seconds as milliseconds.
func parseSeconds(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n < -maxSeconds || n > maxSeconds {
			return 0, fmt.Errorf("%s seconds are outside the calendar", s)
		}
		return n * 1000, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of seconds", s)
	}
	if !(math.Abs(f) <= maxSeconds) {
		return 0, fmt.Errorf("%s seconds are outside the calendar", s)
	}
	return int64(math.Round(f * 1000)), nil
}

// formatSeconds writes milliseconds as decimal seconds, the shortest.
func formatSeconds(ms int64) string {
	if ms%1000 == 0 {
		return strconv.FormatInt(ms/1000, 10)
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64)
}
