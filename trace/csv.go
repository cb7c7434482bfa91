package trace

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Three tables are read and written as CSV; the header line tells them apart.
//
//   - Ours: host,start_s,end_s,state,cpu,ghz (cpu and ghz may be missing or
//     empty). A row is a spell in one of the five states; where two rows of a host
//     do not touch nobody looked. A row with a host alone is a host of which
//     nothing is known.
//   - Sessions: host,start_s,end_s. A row is a time when the host was available;
//     from the trace's start to its end it was unavailable at all other times
//     of the window.
//   - Changes: host,start_s,state. A state lasts until the host's next row, the
//     last one to the end. States are names, or the numbers of the phones' files:
//     0 unavailable, 1 on battery and so its owner's (user-present), 2 available.
//
// Times are seconds since the start that a header comment gives (`# start:
// 2025-12-11T20:21:02Z`), or since ReadOptions.Epoch. Rows are in order of time
// for each host; hosts may be interleaved. Lines that begin with # before the
// header line are `# key: value`: name, synthetic, start, end, window, sample.

// columns says where the fields of a table are; -1: missing.
type columns struct {
	host, start, end, state, cpu, ghz int
	n                                 int
}

func parseColumns(line string) (columns, error) {
	c := columns{-1, -1, -1, -1, -1, -1, 0}
	for i, name := range strings.Split(line, ",") {
		var at *int
		switch strings.TrimSpace(name) {
		case "host", "device", "node":
			at = &c.host
		case "start_s":
			at = &c.start
		case "end_s":
			at = &c.end
		case "state":
			at = &c.state
		case "cpu":
			at = &c.cpu
		case "ghz":
			at = &c.ghz
		default:
			return c, fmt.Errorf("unknown column %q: columns are host (or device, node), start_s, end_s, state, cpu, ghz", name)
		}
		if *at >= 0 {
			return c, fmt.Errorf("column %q comes twice", name)
		}
		*at = i
		c.n++
	}
	if c.host < 0 || c.start < 0 || (c.end < 0 && c.state < 0) {
		return c, errors.New("the header line needs host, start_s, and end_s or state")
	}
	return c, nil
}

func readCSV(t *Trace, lines *lineReader, o ReadOptions) error {
	header, err := readHeader(t, lines)
	if err != nil {
		return err
	}
	cols, err := parseColumns(header)
	if err != nil {
		return lines.wrap(err)
	}
	epoch := o.Epoch
	if !t.Start.IsZero() {
		epoch = t.Start
	}
	if epoch.IsZero() {
		epoch = time.Unix(0, 0)
	}
	t.Start = epoch.UTC()
	b := newBuilder()
	for line, ok := lines.next(); ok; line, ok = lines.next() {
		if line == "" {
			continue
		}
		if err := cols.row(b, line, epoch.UnixMilli()); err != nil {
			return lines.wrap(err)
		}
	}
	if lines.err != nil {
		return lines.err
	}
	if b.first <= b.last {
		if b.first < t.Start.UnixMilli() {
			return fmt.Errorf("%s: a row at %s is before the trace's start, %s", lines.file, stamp(b.first),
				stamp(t.Start.UnixMilli()))
		}
		if !t.End.IsZero() && b.last > t.End.UnixMilli() {
			return fmt.Errorf("%s: a row at %s is after the trace's end, %s", lines.file, stamp(b.last),
				stamp(t.End.UnixMilli()))
		}
	}
	if cols.state >= 0 && cols.end >= 0 {
		return b.build(t, Unobserved)
	}
	rest := Unavailable
	if cols.end < 0 {
		rest = Unobserved // before the first change
		b.bounds(t)
		b.close(t.End.UnixMilli())
	}
	if err := b.build(t, rest); err != nil {
		return err
	}
	return t.watch()
}

// row parses a line of the table into b; epoch is the file's zero in Unix
// milliseconds.
func (c columns) row(b *builder, line string, epoch int64) error {
	f := strings.Split(line, ",")
	if strings.Contains(line, `"`) {
		var err error
		if f, err = csv.NewReader(strings.NewReader(line)).Read(); err != nil {
			return err
		}
	}
	if len(f) != c.n {
		return fmt.Errorf("%d fields, the header has %d", len(f), c.n)
	}
	h, err := b.host(f[c.host])
	if err != nil {
		return err
	}
	if c.ghz >= 0 && f[c.ghz] != "" {
		g, err := strconv.ParseFloat(f[c.ghz], 64)
		if err != nil || !(g > 0 && g <= 1000) {
			return fmt.Errorf("%q is not a clock rate in GHz", f[c.ghz])
		}
		h.ghz = g
	}
	if f[c.start] == "" && c.end >= 0 && f[c.end] == "" {
		return nil
	}
	r := row{cpu: 1}
	if r.from, err = parseSeconds(f[c.start]); err != nil {
		return err
	}
	r.from += epoch
	r.to = r.from
	if c.end >= 0 {
		if r.to, err = parseSeconds(f[c.end]); err != nil {
			return err
		}
		r.to += epoch
	}
	if c.state >= 0 {
		if r.state, err = parseState(f[c.state]); err != nil {
			return err
		}
	}
	if c.cpu >= 0 && f[c.cpu] != "" {
		if r.cpu, err = strconv.ParseFloat(f[c.cpu], 64); err != nil || !(r.cpu >= 0 && r.cpu <= 1) {
			return fmt.Errorf("%q is not a CPU share between 0 and 1", f[c.cpu])
		}
	}
	return b.add(f[c.host], r)
}

// phoneStates are the numbers of the phones' files.
var phoneStates = [...]State{Unavailable, UserPresent, Available}

func parseState(s string) (State, error) {
	if len(s) == 1 && s[0] >= '0' && int(s[0]-'0') < len(phoneStates) {
		return phoneStates[s[0]-'0'], nil
	}
	var out State
	err := out.UnmarshalText([]byte(s))
	return out, err
}

// readHeader reads comments into t and returns the header line.
func readHeader(t *Trace, lines *lineReader) (string, error) {
	for line, ok := lines.next(); ok; line, ok = lines.next() {
		comment, isComment := strings.CutPrefix(line, "#")
		if line == "" {
			continue
		}
		if !isComment {
			return line, nil
		}
		key, value, _ := strings.Cut(strings.TrimSpace(comment), ":")
		if err := setHeader(t, key, strings.TrimSpace(value)); err != nil {
			return "", lines.wrap(err)
		}
	}
	if lines.err != nil {
		return "", lines.err
	}
	return "", lines.wrap(errors.New("the file ends before a header line"))
}

func setHeader(t *Trace, key, value string) (err error) {
	switch key {
	case "name":
		t.Name = value
	case "synthetic":
		t.Synthetic = value
	case "start":
		t.Start, err = parseDate(value)
	case "end":
		t.End, err = parseDate(value)
	case "window":
		from, to, _ := strings.Cut(value, "-")
		if t.Window.From, err = time.ParseDuration(from); err == nil {
			t.Window.To, err = time.ParseDuration(to)
		}
		if err == nil {
			err = t.Window.Check()
		}
	case "sample":
		t.Sample, err = time.ParseDuration(value)
		if err == nil && t.Sample < 0 {
			err = errors.New("is negative")
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// parseDate reads an RFC 3339 time within the years that it can write again.
func parseDate(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return at, fmt.Errorf("%q is not a date and time such as 2006-01-02T15:04:05Z", s)
	}
	return at.UTC(), nil
}

func writeHeader(w *bufio.Writer, t *Trace) {
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(w, "# %s: %s\n", key, oneLine(value))
		}
	}
	fmt.Fprintln(w, "# godwit trace")
	line("name", t.Name)
	line("synthetic", t.Synthetic)
	line("start", t.Start.UTC().Format(time.RFC3339Nano))
	line("end", t.End.UTC().Format(time.RFC3339Nano))
	if !t.Window.Whole() {
		line("window", t.Window.String())
	}
	if t.Sample > 0 {
		line("sample", t.Sample.String())
	}
}

// oneLine keeps a label from writing lines of its own.
func oneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}

func writeCSV(out io.Writer, t *Trace) error {
	w := bufio.NewWriter(out)
	writeHeader(w, t)
	speeds := slices.ContainsFunc(t.Hosts, func(h Host) bool { return h.GHz > 0 })
	header := "host,start_s,end_s,state,cpu"
	if speeds {
		header += ",ghz"
	}
	fmt.Fprintln(w, header)
	zero := t.Start.UnixMilli()
	for _, h := range t.Hosts {
		name, ghz := quoted(h.History.Host), ""
		if speeds {
			ghz = ","
			if h.GHz > 0 {
				ghz += strconv.FormatFloat(h.GHz, 'g', -1, 64)
			}
		}
		written := false
		for i := range h.History.Len() {
			s := h.History.Spell(i)
			if s.State == Unobserved {
				continue
			}
			cpu := ""
			if s.State == Available && s.CPU != 1 {
				cpu = strconv.FormatFloat(s.CPU, 'g', -1, 64)
			}
			fmt.Fprintf(w, "%s,%s,%s,%s,%s%s\n", name, formatSeconds(s.Start.UnixMilli()-zero),
				formatSeconds(s.End.UnixMilli()-zero), s.State, cpu, ghz)
			written = true
			if speeds {
				ghz = "," // once is enough
			}
		}
		if !written {
			fmt.Fprintf(w, "%s,,,,%s\n", name, ghz)
		}
	}
	return w.Flush()
}

func quoted(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n#") && strings.TrimSpace(s) == s {
		return s
	}
	return `"` + strings.ReplaceAll(oneLine(s), `"`, `""`) + `"`
}

func writeSessions(out io.Writer, t *Trace) error {
	w := bufio.NewWriter(out)
	writeHeader(w, t)
	fmt.Fprintln(w, "host,start_s,end_s")
	zero := t.Start.UnixMilli()
	for _, h := range t.Hosts {
		name := quoted(h.History.Host)
		written := false
		for s := range sessions(h.History) {
			fmt.Fprintf(w, "%s,%s,%s\n", name, formatSeconds(s[0]-zero), formatSeconds(s[1]-zero))
			written = true
		}
		if !written {
			fmt.Fprintf(w, "%s,,\n", name)
		}
	}
	return w.Flush()
}

// sessions yields the times, from and to in Unix milliseconds, that h was
// available, whatever its CPU share.
func sessions(h *History) func(yield func([2]int64) bool) {
	return func(yield func([2]int64) bool) {
		var s [2]int64
		open := false
		for i, c := range h.changes {
			end := h.until
			if i+1 < len(h.changes) {
				end = h.changes[i+1].at
			}
			switch {
			case c.state == Available && open:
				s[1] = end
			case c.state == Available && end > c.at:
				s, open = [2]int64{c.at, end}, true
			case open:
				open = false
				if !yield(s) {
					return
				}
			}
		}
		if open {
			yield(s)
		}
	}
}

func writeChanges(out io.Writer, t *Trace) error {
	w := bufio.NewWriter(out)
	writeHeader(w, t)
	fmt.Fprintln(w, "device,start_s,state")
	zero := t.Start.UnixMilli()
	for _, h := range t.Hosts {
		last := -1
		for _, c := range h.History.changes {
			number := 1 // there, but not for tasks
			if c.state == Available {
				number = 2
			} else if c.state == Unavailable || c.state == Unobserved {
				number = 0
			}
			if number != last {
				fmt.Fprintf(w, "%s,%s,%d\n", quoted(h.History.Host), formatSeconds(c.at-zero), number)
				last = number
			}
		}
	}
	return w.Flush()
}
