package trace

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Join makes one trace of parts in order of time, such as the files of a Desktop
// Grid Trace Archive set, which hold a host's day each. Hosts of one name are one
// host; between its parts nobody looked. The window is the least one that holds those of
// all parts. It fails where parts of a host overlap.
// The parts are not to be used afterwards.
func Join(name string, parts []*Trace) (*Trace, error) {
	out := &Trace{Name: name}
	index := map[string]int{}
	for i, p := range parts {
		switch {
		case i == 0:
			out.Window = p.Window
		case p.Window.Whole() || out.Window.Whole():
			out.Window = Window{}
		default:
			out.Window = Window{min(out.Window.From, p.Window.From), max(out.Window.To, p.Window.To)}
		}
		if out.Start.IsZero() || p.Start.Before(out.Start) {
			out.Start = p.Start
		}
		if p.End.After(out.End) {
			out.End = p.End
		}
		if out.Synthetic == "" {
			out.Synthetic = p.Synthetic
		}
		for _, h := range p.Hosts {
			i, ok := index[h.History.Host]
			if !ok {
				index[h.History.Host] = len(out.Hosts)
				out.Hosts = append(out.Hosts, h)
				continue
			}
			if err := out.Hosts[i].History.join(h.History); err != nil {
				return nil, fmt.Errorf("host %s: %w", h.History.Host, err)
			}
		}
	}
	return out, nil
}

// join appends another history, of later times.
func (h *History) join(o *History) error {
	if len(o.changes) == 0 {
		return nil
	}
	if len(h.changes) > 0 && o.changes[0].at > h.until {
		if err := h.change(change{at: h.until, state: Unobserved}); err != nil {
			return err
		}
	}
	for _, c := range o.changes {
		if err := h.change(c); err != nil {
			return err
		}
	}
	h.until = max(h.until, o.until)
	return nil
}

// A Resource is a line of a Desktop Grid Trace Archive's Resourceinfo.dat.
type Resource struct {
	GHz    float64
	Cycles float64 // per second, all that the machine can give
}

// ReadResources reads a Resourceinfo.dat: name, clock rate in MHz, cycles per
// second.
func ReadResources(name string, r io.Reader) (map[string]Resource, error) {
	in, err := plain(name, r)
	if err != nil {
		return nil, err
	}
	out, lines := map[string]Resource{}, newLineReader(name, in)
	for line, ok := lines.next(); ok; line, ok = lines.next() {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 3 {
			return nil, lines.wrap(fmt.Errorf("%d fields; a resource has a name, a clock rate in MHz and cycles per second",
				len(f)))
		}
		mhz, err := strconv.ParseFloat(f[1], 64)
		if err != nil || !(mhz > 0 && mhz <= 1e6) {
			return nil, lines.wrap(fmt.Errorf("%q is not a clock rate in MHz", clip(f[1])))
		}
		cycles, err := strconv.ParseFloat(f[2], 64)
		if err != nil || !(cycles > 0 && cycles <= maxCycles) {
			return nil, lines.wrap(fmt.Errorf("%q is not a number of cycles per second", clip(f[2])))
		}
		if len(out) >= MaxHosts {
			return nil, lines.wrap(fmt.Errorf("more than %d resources", MaxHosts))
		}
		out[f[0]] = Resource{mhz / 1000, cycles}
	}
	return out, lines.err
}
