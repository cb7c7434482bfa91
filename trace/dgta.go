package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

const (
	dayMillis = int64(24 * time.Hour / time.Millisecond)
	// mostDays is the maximum number of days in a host's files, ten years.
	mostDays = 3660
	// maxCycles is an upper bound of a processor's cycles per second.
	maxCycles = 1e15
)

// Days reads a host of a Desktop Grid Trace Archive set from one or several files in order of time, in
// the format of Zhang (section 6.1.2). A row contains the start and the end of an interval in seconds
// and the cycles per second that a task received. -1 cycles mean an unavailable host, and 0 cycles a
// host that is busy with its owner's programs. The optional fourth column of section 6.1.4 is the Job
// Execution Availability, 0 or 1. If it is 0, no task could run. A header line can precede the rows.
//
// A file whose first row starts before second 86,400 counts seconds from the start of a day, otherwise
// from 1970. Within such a file a row that starts at second 0 is the start of the next day.
type Days struct {
	host      string
	o         ReadOptions
	b         *builder
	most      float64 // cycles per second of the whole machine
	synthetic string
	next      int64  // start of the day after the last day, in Unix milliseconds
	days      int    // number of days that count from 0
	last      string // name of the last file

	// opens is the time of day at which these days start, and length the greatest length of a day,
	// both in milliseconds.
	opens, length int64
	irregular     bool // a file has Unix seconds, or days start at different times of day
}

// NewDays returns a reader of the host's files. ReadOptions.Epoch is the start of the first day that
// counts from 0.
func NewDays(host string, o ReadOptions) *Days {
	d := &Days{host: host, o: o, b: newBuilder(), most: o.MaxCycles}
	if !o.Epoch.IsZero() {
		d.next = o.Epoch.UnixMilli()
	}
	return d
}

// Read reads a file of the host. If the file counts from second 0, first is the start of its first
// day. A zero first means the day after the previous file.
func (d *Days) Read(name string, first time.Time, r io.Reader) error {
	in, err := plain(name, r)
	if err != nil {
		return err
	}
	start := d.next
	if !first.IsZero() {
		start = first.UnixMilli()
	}
	return d.lines(newLineReader(name, in), start)
}

// Count returns the number of days that count from 0.
func (d *Days) Count() int { return d.days }

// Trace returns the host's trace. If days count from 0, the trace's Window is the part of the day
// that they describe.
func (d *Days) Trace() (*Trace, error) {
	t := &Trace{Name: d.host}
	if err := d.build(t); err != nil {
		return nil, err
	}
	if len(t.Hosts) == 0 {
		return nil, fmt.Errorf("%s: no hosts in it", d.last)
	}
	t.Window = d.window()
	return t, nil
}

// window returns the part of the day that the host's days describe, or the whole day if it is unknown.
func (d *Days) window() Window {
	w := Window{time.Duration(d.opens) * time.Millisecond, time.Duration(d.opens+d.length) * time.Millisecond}
	if d.irregular || d.days == 0 || w.Check() != nil || w.Whole() {
		return Window{}
	}
	return w
}

// starts records the start of a file's first day.
func (d *Days) starts(at int64) {
	opens := ((at % dayMillis) + dayMillis) % dayMillis
	d.irregular = d.irregular || d.days > 0 && opens != d.opens
	d.opens = opens
	d.days++
}

// lines reads a file whose first day starts at start.
func (d *Days) lines(lines *lineReader, start int64) error {
	d.last = lines.file
	rows, header, relative := 0, false, false
	end := int64(0) // end of the previous row in the file's own seconds
	for line, ok := lines.next(); ok; line, ok = lines.next() {
		if line == "" || line[0] == '#' {
			if l, ok := strings.CutPrefix(line, "# synthetic: "); ok {
				d.synthetic = l
			}
			continue
		}
		f := strings.Fields(line)
		if rows == 0 && !header && dgtaHeader(f) {
			header = true
			continue
		}
		r, err := dgtaRow(f)
		if err != nil {
			return lines.wrap(err)
		}
		if rows == 0 {
			if relative = r.from >= 0 && r.from < dayMillis; relative {
				d.starts(start)
			} else {
				start, d.irregular = 0, true
			}
		} else if r.from < end {
			if start, err = d.nextDay(r.from, end, start, relative); err != nil {
				return lines.wrap(err)
			}
		}
		rows, end = rows+1, r.to
		if start != 0 && (r.from < -maxTime-start || r.to > maxTime-start) {
			return lines.wrap(fmt.Errorf("the day that starts at %s is outside the calendar", stamp(start)))
		}
		r.from, r.to = r.from+start, r.to+start
		if d.o.MaxCycles == 0 {
			d.most = max(d.most, r.cpu)
		}
		if err := d.b.add(d.host, r); err != nil {
			return lines.wrap(err)
		}
		if relative {
			d.length = max(d.length, end)
			d.next = start + max(1, (end+dayMillis-1)/dayMillis)*dayMillis
		}
	}
	return lines.err
}

// nextDay returns the start of the next day if a row that starts before the end of the previous row is
// the first row of a day.
func (d *Days) nextDay(from, end, start int64, relative bool) (int64, error) {
	switch {
	case !relative || from != 0:
		return 0, fmt.Errorf("second %s is before %s, the end of the row before: sort the rows by time, or count each day from 0",
			formatSeconds(from), formatSeconds(end))
	case end > dayMillis:
		return 0, fmt.Errorf("a day begins at second 0, and the day before ends at second %s: end it at 86400 or earlier",
			formatSeconds(end))
	case d.days >= mostDays:
		return 0, fmt.Errorf("more than %d days of one host: divide the trace", mostDays)
	}
	d.days++
	return start + dayMillis, nil
}

// build makes the trace from all rows.
func (d *Days) build(t *Trace) error {
	if t.Synthetic == "" {
		t.Synthetic = d.synthetic
	}
	for i := range d.b.hosts {
		for j := range d.b.hosts[i].rows {
			r := &d.b.hosts[i].rows[j]
			r.cpu = min(1, max(0, r.cpu/max(d.most, 1e-9)))
		}
	}
	return d.b.build(t, Unobserved)
}

// dgtaHeader reports whether the fields are column names, for example "start end cycles".
func dgtaHeader(f []string) bool {
	if len(f) < 3 {
		return false
	}
	name := strings.ToLower(f[0])
	return strings.HasPrefix(name, "start") || strings.HasPrefix(name, "begin")
}

// dgtaRow parses a row. The row's cpu is in cycles per second.
func dgtaRow(f []string) (r row, err error) {
	if len(f) != 3 && len(f) != 4 {
		return row{}, fmt.Errorf("%d fields; a line is start, end and cycles, and may have the availability, 0 or 1", len(f))
	}
	if r.from, err = parseSeconds(f[0]); err != nil {
		return row{}, err
	}
	if r.to, err = parseSeconds(f[1]); err != nil {
		return row{}, err
	}
	cycles, err := strconv.ParseFloat(f[2], 64)
	switch {
	case err != nil || !(cycles == -1 || cycles >= 0) || cycles > maxCycles:
		return row{}, fmt.Errorf("%q is not a number of cycles, nor -1", clip(f[2]))
	case cycles < 0:
		r.state = Unavailable
	case cycles == 0:
		r.state = CPUBusy
	}
	r.cpu = cycles
	if len(f) == 3 {
		return r, nil
	}
	switch {
	case f[3] == "0" && r.state == Available:
		r.state = CPUBusy
	case f[3] == "1" && r.state != Available:
		return row{}, fmt.Errorf("the fourth column is 1, available, and cycles are %s: write 0, or give the cycles",
			clip(f[2]))
	case f[3] != "0" && f[3] != "1":
		return row{}, fmt.Errorf("%q in the fourth column is neither 0, unavailable, nor 1, available: correct it, or remove "+
			"the column", clip(f[3]))
	}
	return r, nil
}

// readDGTA reads a file of one host.
func readDGTA(t *Trace, lines *lineReader, o ReadOptions) error {
	d := NewDays(t.Name, o)
	if err := d.lines(lines, d.next); err != nil {
		return err
	}
	if d.days > 1 {
		t.Window = d.window()
	}
	return d.build(t)
}

// writeDGTA writes a host's file, in seconds since 1970.
func writeDGTA(out io.Writer, h Host, synthetic string) error {
	w := bufio.NewWriter(out)
	if synthetic != "" {
		fmt.Fprintf(w, "# synthetic: %s\n", oneLine(synthetic))
	}
	full := 1e9 // cycles per second at 1 GHz
	if h.GHz > 0 {
		full *= h.GHz
	}
	for i := range h.History.Len() {
		s := h.History.Spell(i)
		cycles := 0.0
		switch s.State {
		case Unobserved:
			continue
		case Available:
			cycles = s.CPU * full
		case Unavailable:
			cycles = -1
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", formatSeconds(s.Start.UnixMilli()), formatSeconds(s.End.UnixMilli()),
			strconv.FormatFloat(cycles, 'f', -1, 64))
	}
	return w.Flush()
}
