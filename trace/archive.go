package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// ftaFields is how many columns an event_trace.tab has: event_id, component_id,
// node_id, platform_id, node_name, event_type, event_start_time,
// event_stop_time, event_end_reason.
const ftaFields = 9

// readFTA reads the events of a Failure Trace Archive set: type 1 is
// available, 0 is not, times are Unix seconds. A host is a node, or a component
// of it where it has more than one; between its events nobody looked.
func readFTA(t *Trace, lines *lineReader) error {
	b := newBuilder()
	for line, ok := lines.next(); ok; line, ok = lines.next() {
		if line == "" || line[0] == '#' {
			t.label(line)
			continue
		}
		if err := ftaEvent(b, strings.Fields(line)); err != nil {
			return lines.wrap(err)
		}
	}
	if lines.err != nil {
		return lines.err
	}
	return b.build(t, Unobserved)
}

// label takes the synthetic label from a comment that has it.
func (t *Trace) label(comment string) {
	if l, ok := strings.CutPrefix(comment, "# synthetic: "); ok {
		t.Synthetic = l
	}
}

func ftaEvent(b *builder, f []string) error {
	if len(f) < ftaFields-1 { // the reason may be missing
		return fmt.Errorf("%d fields; an event has %d", len(f), ftaFields)
	}
	host := f[2]
	if f[1] != "0" {
		host += "." + f[1]
	}
	r := row{cpu: 1}
	switch f[5] {
	case "1":
		r.state = Available
	case "0":
		r.state = Unavailable
	default:
		return fmt.Errorf("event type %q is neither 0, unavailable, nor 1, available", clip(f[5]))
	}
	var err error
	if r.from, err = parseSeconds(f[6]); err != nil {
		return err
	}
	if r.to, err = parseSeconds(f[7]); err != nil {
		return err
	}
	return b.add(host, r)
}

func writeFTA(out io.Writer, t *Trace) error {
	w := bufio.NewWriter(out)
	if t.Synthetic != "" {
		fmt.Fprintf(w, "# synthetic: %s\n", oneLine(t.Synthetic))
	}
	fmt.Fprintln(w, "# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time "+
		"event_end_reason")
	for n, h := range t.Hosts {
		event := 0
		write := func(from, to int64, up int) {
			fmt.Fprintf(w, "%d\t0\t%d\t0\t%s\t%d\t%s\t%s\tNULL\n", event, n+1, field(h.History.Host), up, formatSeconds(from),
				formatSeconds(to))
			event++
		}
		// Everything but Available is one unavailable event; Unobserved is none.
		open, up, from := false, 0, int64(0)
		for _, c := range h.History.changes {
			now := 0
			if c.state == Available {
				now = 1
			}
			if open && (c.state == Unobserved || now != up) {
				write(from, c.at, up)
				open = false
			}
			if !open && c.state != Unobserved {
				open, up, from = true, now, c.at
			}
		}
		if open {
			write(from, h.History.until, up)
		}
	}
	return w.Flush()
}

// field makes a name one field of a line.
func field(s string) string {
	if s = strings.Join(strings.Fields(s), "_"); s == "" || s[0] == '#' {
		return "_" + s
	}
	return s
}

// readAVT reads Godfrey's format: a host a line, its name, how many sessions,
// and each session's start and end in seconds. Between sessions it was
// unavailable, from the first time in the file to the last.
func readAVT(t *Trace, lines *lineReader, o ReadOptions) error {
	epoch := int64(0)
	if !o.Epoch.IsZero() {
		epoch = o.Epoch.UnixMilli()
	}
	b := newBuilder()
	for line, ok := lines.next(); ok; line, ok = lines.next() {
		if line == "" {
			continue
		}
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			key, value, _ := strings.Cut(strings.TrimSpace(comment), ":")
			if key == "synthetic" || key == "start" || key == "end" || key == "window" {
				if err := setHeader(t, key, strings.TrimSpace(value)); err != nil {
					return lines.wrap(err)
				}
				epoch = 0 // the times of a file that we wrote are Unix seconds
			}
			continue
		}
		if err := avtHost(b, strings.Fields(line), epoch); err != nil {
			return lines.wrap(err)
		}
	}
	if lines.err != nil {
		return lines.err
	}
	if b.first <= b.last && (!t.Start.IsZero() && b.first < t.Start.UnixMilli() || !t.End.IsZero() &&
		b.last > t.End.UnixMilli()) {
		return fmt.Errorf("%s: sessions outside the start and end that it gives", lines.file)
	}
	if err := b.build(t, Unavailable); err != nil {
		return err
	}
	return t.watch()
}

func avtHost(b *builder, f []string, epoch int64) error {
	if len(f) < 2 {
		return errors.New("a host's line has a name and a number of sessions")
	}
	n, err := strconv.Atoi(f[1])
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a number of sessions", clip(f[1]))
	}
	f, name := f[2:], f[0]
	if len(f) != 2*n {
		return fmt.Errorf("host %s: %d times for %d sessions, which have two each", clip(name), len(f), n)
	}
	if h, err := b.host(name); err != nil {
		return err
	} else if h.rows != nil {
		return fmt.Errorf("host %s has two lines", clip(name))
	}
	for i := 0; i < len(f); i += 2 {
		r := row{cpu: 1}
		if r.from, err = parseSeconds(f[i]); err != nil {
			return err
		}
		if r.to, err = parseSeconds(f[i+1]); err != nil {
			return err
		}
		r.from, r.to = r.from+epoch, r.to+epoch
		if err := b.add(name, r); err != nil {
			return err
		}
	}
	return nil
}

func writeAVT(out io.Writer, t *Trace) error {
	w := bufio.NewWriter(out)
	if t.Synthetic != "" {
		fmt.Fprintf(w, "# synthetic: %s\n", oneLine(t.Synthetic))
	}
	fmt.Fprintf(w, "# start: %s\n# end: %s\n", t.Start.UTC().Format(time.RFC3339Nano),
		t.End.UTC().Format(time.RFC3339Nano))
	if !t.Window.Whole() {
		fmt.Fprintf(w, "# window: %s\n", t.Window)
	}
	for _, h := range t.Hosts {
		var times []string
		for s := range sessions(h.History) {
			times = append(times, formatSeconds(s[0]), formatSeconds(s[1]))
		}
		fmt.Fprintf(w, "%s %d", field(h.History.Host), len(times)/2)
		for _, at := range times {
			w.WriteString(" " + at)
		}
		w.WriteByte('\n')
	}
	return w.Flush()
}
