package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Format is a file format of availability records.
type Format string

// The formats. Each is also read gzipped.
const (
	CSV      Format = "csv"      // ours; reads sessions and changes too, by their header lines
	Sessions Format = "sessions" // host,start_s,end_s: when each host was available
	Changes  Format = "changes"  // device,start_s,state: 0 unavailable, 1 not for tasks, 2 available
	FTA      Format = "fta"      // event_trace.tab of the Failure Trace Archive
	AVT      Format = "avt"      // Godfrey's Repository of Availability Traces
	DGTA     Format = "dgta"     // Desktop Grid Trace Archive: start end cycles; see Days
)

// Formats lists the names of the formats.
func Formats() []Format { return []Format{CSV, Sessions, Changes, FTA, AVT, DGTA} }

// ReadOptions say what a file does not; the zero value is fine.
type ReadOptions struct {
	// Format is the file's; "" finds it out from its name and its beginning.
	Format Format
	// Epoch is the time that a file's second 0 stands for; zero: 1970-01-01.
	// Files that say it themselves are believed.
	Epoch time.Time
	// MaxCycles is, for DGTA, the cycles per second of the whole machine; 0:
	// the most in the file.
	MaxCycles float64
}

// Read reads a trace. The name is that of the file, for its format, for the
// trace's Name and for errors, which carry the line: see LineError.
func Read(name string, r io.Reader, o ReadOptions) (*Trace, error) {
	in, err := plain(name, r)
	if err != nil {
		return nil, err
	}
	head, _ := in.Peek(sniffBytes)
	if o.Format == "" {
		if o.Format, err = Sniff(name, head); err != nil {
			return nil, err
		}
	}
	t := &Trace{Name: baseName(name)}
	lines := newLineReader(name, in)
	switch o.Format {
	case CSV, Sessions, Changes:
		err = readCSV(t, lines, o)
	case FTA:
		err = readFTA(t, lines)
	case AVT:
		err = readAVT(t, lines, o)
	case DGTA:
		err = readDGTA(t, lines, o)
	default:
		err = fmt.Errorf("unknown format %q: formats are %v", o.Format, Formats())
	}
	if err != nil {
		return nil, err
	}
	if len(t.Hosts) == 0 {
		return nil, fmt.Errorf("%s: no hosts in it", name)
	}
	return t, nil
}

// Write writes a trace. Sessions, FTA and AVT keep only when hosts were
// available; FTA also keeps when they were not, and CSV keeps everything. DGTA
// takes one host.
func Write(w io.Writer, t *Trace, f Format) error {
	switch f {
	case CSV:
		return writeCSV(w, t)
	case Sessions:
		return writeSessions(w, t)
	case Changes:
		return writeChanges(w, t)
	case FTA:
		return writeFTA(w, t)
	case AVT:
		return writeAVT(w, t)
	case DGTA:
		if len(t.Hosts) != 1 {
			return fmt.Errorf("a DGTA file holds one host, not %d", len(t.Hosts))
		}
		return writeDGTA(w, t.Hosts[0], t.Synthetic)
	}
	return fmt.Errorf("unknown format %q: formats are %v", f, Formats())
}

// ReadSnapshots reads the sampling times of a set (a header line snapshot_s,
// then seconds since epoch, increasing) into t's Samples, and sets Sample to the
// median time between them.
func ReadSnapshots(t *Trace, name string, r io.Reader) error {
	in, err := plain(name, r)
	if err != nil {
		return err
	}
	lines := newLineReader(name, in)
	if line, _ := lines.next(); line != "snapshot_s" {
		return lines.wrap(fmt.Errorf("the header line is %q, not snapshot_s", clip(line)))
	}
	var at []time.Time
	for line, ok := lines.next(); ok; line, ok = lines.next() {
		ms, err := parseSeconds(line)
		if err != nil {
			return lines.wrap(err)
		}
		next := t.Start.Add(time.Duration(ms) * time.Millisecond)
		if ms < 0 || ms > maxSeconds || (len(at) > 0 && !next.After(at[len(at)-1])) {
			return lines.wrap(errors.New("the sampling times do not increase from 0"))
		}
		if len(at) >= MaxSpells {
			return lines.wrap(fmt.Errorf("more than %d sampling times", MaxSpells))
		}
		at = append(at, next)
	}
	if lines.err != nil {
		return lines.err
	}
	if len(at) < 2 {
		return fmt.Errorf("%s: fewer than two sampling times", name)
	}
	gaps := make([]time.Duration, len(at)-1)
	for i := range gaps {
		gaps[i] = at[i+1].Sub(at[i])
	}
	slices.Sort(gaps)
	t.Samples, t.Sample = at, gaps[len(gaps)/2]
	return nil
}

// WriteSnapshots writes t's Samples for ReadSnapshots.
func WriteSnapshots(out io.Writer, t *Trace) error {
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "snapshot_s")
	for _, at := range t.Samples {
		fmt.Fprintln(w, formatSeconds(at.UnixMilli()-t.Start.UnixMilli()))
	}
	return w.Flush()
}

const sniffBytes = 4096

// plain undoes gzip where there is any.
func plain(name string, r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if head, _ := in.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return bufio.NewReaderSize(z, 64<<10), nil
}

// baseName is a file's name without directories and endings.
func baseName(name string) string {
	name, _, _ = strings.Cut(path.Base(strings.ReplaceAll(name, `\`, "/")), ".")
	return name
}

// Sniff tells a file's format from its name and its first bytes, decompressed.
func Sniff(name string, head []byte) (Format, error) {
	switch name := strings.TrimSuffix(name, ".gz"); {
	case strings.HasSuffix(name, ".avt"):
		return AVT, nil
	case strings.HasSuffix(name, ".csv"):
		return CSV, nil
	case strings.HasSuffix(name, ".tab"):
		return FTA, nil
	}
	for line := range strings.Lines(string(head)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") && !strings.Contains(line, "event_id") {
			continue
		}
		switch fields := strings.Fields(line); {
		case strings.Contains(line, "event_id"), len(fields) == ftaFields:
			return FTA, nil
		case strings.Contains(line, "start_s"):
			return CSV, nil
		case len(fields) == 3, len(fields) == 4 && (dgtaHeader(fields) || dgtaFour(fields)):
			return DGTA, nil
		case len(fields) >= 4 && len(fields)%2 == 0:
			return AVT, nil
		}
		break
	}
	return "", fmt.Errorf("%s: of no format known here: name one of %v", name, Formats())
}

// dgtaFour reports whether four fields are a row of a DGTA file. In an AVT file four fields are a host
// with a single session: its name, 1, and the start and the end.
func dgtaFour(fields []string) bool {
	if _, err := dgtaRow(fields); err != nil {
		return false
	}
	start, _ := strconv.ParseFloat(fields[2], 64)
	end, _ := strconv.ParseFloat(fields[3], 64)
	return fields[1] != "1" || end < start
}

// A lineReader reads lines and counts them.
type lineReader struct {
	file    string
	scanner *bufio.Scanner
	line    int
	err     error // what ended the reading, but for the end of the file
}

func newLineReader(file string, r io.Reader) *lineReader {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), MaxLine)
	return &lineReader{file: file, scanner: s}
}

// next returns the next line, without spaces around it, or false at the end or
// at an error. What is left of a line where reading failed is no line: its
// fields would be blamed.
func (l *lineReader) next() (string, bool) {
	more := l.scanner.Scan()
	err := l.scanner.Err()
	if more && err == nil {
		l.line++
		return strings.TrimSpace(l.scanner.Text()), true
	}
	if err != nil {
		l.line++
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = fmt.Errorf("a line of more than %d bytes", MaxLine)
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = errors.New("the compressed file is cut off somewhere after this line: fetch it again")
		}
		l.err = l.wrap(err)
	}
	return "", false
}

// wrap says in which line err is.
func (l *lineReader) wrap(err error) error {
	return &LineError{File: l.file, Line: max(1, l.line), Err: err}
}

// clip shortens what a file holds for an error.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
