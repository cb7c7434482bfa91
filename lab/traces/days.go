package traces

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/lab/files"
	"godwit/trace"
)

// resourceFile is the list of machines in a Desktop Grid Trace Archive set.
const resourceFile = "Resourceinfo.dat"

// A dayFile is a trace file of a host.
type dayFile struct {
	path string
	name string // file name without the host's name
}

// A hostFiles is a host of a set with its files.
type hostFiles struct {
	name  string
	files []dayFile
}

// readTraceDir reads a Desktop Grid Trace Archive set. These layouts are supported:
//
//   - HOST/DAY: a directory per host and a file per day;
//   - HOST or HOST.DAY: files in the set's directory;
//   - DAY: the directory contains a single host. All names are days: 2005-02-28, day3 or 3. If names
//     are numbers, the first file has to count from second 0, because hosts can have numbers, too.
//
// The day of a file that counts from second 0 is the date or the number in its name. Without such
// names, days follow in the order of file names.
func readTraceDir(dir string, o trace.ReadOptions) (*trace.Trace, error) {
	resources := map[string]trace.Resource{}
	list := filepath.Join(dir, resourceFile)
	err := files.Read(list, func(r io.Reader) (err error) {
		resources, err = trace.ReadResources(list, r)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	hosts, err := hostsIn(dir, resources)
	if err != nil {
		return nil, err
	}
	var parts []*trace.Trace
	most := 0
	for _, h := range hosts {
		o.MaxCycles = resources[h.name].Cycles
		t, days, err := h.read(o)
		if err != nil {
			return nil, err
		}
		t.Hosts[0].GHz = resources[h.name].GHz
		parts, most = append(parts, t), max(most, days)
	}
	set, err := trace.Join(filepath.Base(dir), parts)
	if err == nil && most < 2 {
		set.Window = trace.Window{} // with a single day per host, seconds can be Unix seconds
	}
	return set, err
}

// hostsIn returns the hosts of a set in the order of names.
func hostsIn(dir string, resources map[string]trace.Resource) ([]hostFiles, error) {
	plain, folders, err := entriesOf(dir)
	if err != nil {
		return nil, err
	}
	var hosts []hostFiles
	index := map[string]int{}
	add := func(host string, f dayFile) {
		i, ok := index[host]
		if !ok {
			i, index[host] = len(hosts), len(hosts)
			hosts = append(hosts, hostFiles{name: host})
		}
		hosts[i].files = append(hosts[i].files, f)
	}
	switch {
	case len(plain) > 0 && len(folders) == 0 && areDays(dir, plain, resources):
		whole, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range plain {
			add(filepath.Base(whole), dayFile{filepath.Join(dir, name), name})
		}
	default:
		for _, name := range plain {
			host, rest, _ := strings.Cut(name, ".")
			add(host, dayFile{filepath.Join(dir, name), rest})
		}
	}
	for _, folder := range folders {
		inside := filepath.Join(dir, folder)
		names, deeper, err := entriesOf(inside)
		switch {
		case err != nil:
			return nil, err
		case len(deeper) > 0:
			return nil, fmt.Errorf("%s: %s is a directory in a host's directory: move its files up", inside, deeper[0])
		case len(names) == 0:
			return nil, fmt.Errorf("%s: no files in it: remove the directory, or add the host's days", inside)
		}
		for _, name := range names {
			add(folder, dayFile{filepath.Join(inside, name), name})
		}
	}
	switch {
	case len(hosts) == 0:
		return nil, fmt.Errorf("%s: no files in it", dir)
	case len(hosts) > trace.MaxHosts:
		return nil, fmt.Errorf("%s: %d hosts, at most %d: divide the set", dir, len(hosts), trace.MaxHosts)
	}
	return hosts, nil
}

// entriesOf returns the names of a directory's files and directories, except hidden entries and the
// list of resources.
func entriesOf(dir string) (plain, folders []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		switch {
		case e.Name() == resourceFile || e.Name()[0] == '.':
		case e.IsDir():
			folders = append(folders, e.Name())
		case e.Type().IsRegular():
			plain = append(plain, e.Name())
		}
	}
	return plain, folders, nil
}

// areDays reports whether all file names are days, and no name is a known host.
func areDays(dir string, names []string, resources map[string]trace.Resource) bool {
	numbers := false
	for _, name := range names {
		host, _, _ := strings.Cut(name, ".")
		if _, known := resources[host]; known || !dayOf(name).known() {
			return false
		}
		_, err := strconv.ParseUint(host, 10, 32)
		numbers = numbers || err == nil && dayOf(name).numbered
	}
	return !numbers || countsFromZero(filepath.Join(dir, names[0]))
}

// countsFromZero reports whether a file counts seconds from the start of a day.
func countsFromZero(path string) bool {
	d := trace.NewDays("day", trace.ReadOptions{})
	if files.Read(path, func(r io.Reader) error { return d.Read(path, time.Time{}, r) }) != nil {
		return false
	}
	t, err := d.Trace()
	return err == nil && t.Start.Unix() >= 0 && t.Start.Unix() < 24*60*60
}

// read reads a host's files in order of time. It also returns the number of days that count from 0.
func (h *hostFiles) read(o trace.ReadOptions) (*trace.Trace, int, error) {
	if len(h.files) > 1 {
		slices.SortStableFunc(h.files, func(a, b dayFile) int {
			return cmp.Or(dayOf(a.name).compare(dayOf(b.name)), natural(a.name, b.name))
		})
	}
	dated, numbered := true, true
	for _, f := range h.files {
		d := dayOf(f.name)
		dated, numbered = dated && !d.date.IsZero(), numbered && d.numbered
	}
	epoch := time.Unix(0, 0).UTC()
	if !o.Epoch.IsZero() {
		epoch = o.Epoch
	}
	days := trace.NewDays(h.name, o)
	for _, f := range h.files {
		var start time.Time // zero means the day after the previous file
		switch d := dayOf(f.name); {
		case dated:
			start = d.date.Add(epoch.Sub(epoch.Truncate(24 * time.Hour))) // Truncate counts from a midnight of UTC
		case numbered:
			start = epoch.Add(time.Duration(d.number-dayOf(h.files[0].name).number) * 24 * time.Hour)
		}
		if err := files.Read(f.path, func(r io.Reader) error { return days.Read(f.path, start, r) }); err != nil {
			return nil, 0, err
		}
	}
	t, err := days.Trace()
	return t, days.Count(), err
}

// A dayName is the day in a file's name: a date, a number, or neither.
type dayName struct {
	date     time.Time
	number   int
	numbered bool
}

func (d dayName) known() bool { return d.numbered || !d.date.IsZero() }

func (d dayName) compare(o dayName) int {
	return cmp.Or(d.date.Compare(o.date), cmp.Compare(d.number, o.number))
}

// natural compares names with numbers at the end by number, for example x2 before x10.
func natural(a, b string) int {
	cut := func(name string) (string, int) {
		stem, _, _ := strings.Cut(name, ".")
		before := strings.TrimRight(stem, "0123456789")
		n, _ := strconv.Atoi(stem[len(before):]) // 0 without a number, the greatest int if the number is too large
		return before, n
	}
	aStem, aNumber := cut(a)
	bStem, bNumber := cut(b)
	return cmp.Or(strings.Compare(aStem, bStem), cmp.Compare(aNumber, bNumber), strings.Compare(a, b))
}

// mostDay bounds the number of a day, so that its time is within the calendar.
const mostDay = 10_000

// dayOf parses a file name up to the first dot, for example 2005-02-28, 20050228, day-3, day3 or 3.
func dayOf(name string) dayName {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	for _, layout := range []string{time.DateOnly, "20060102"} {
		if at, err := time.Parse(layout, name); err == nil {
			return dayName{date: at}
		}
	}
	digits := strings.TrimLeft(strings.TrimPrefix(name, "day"), "-_ ")
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n > mostDay {
		return dayName{}
	}
	return dayName{number: int(n), numbered: true}
}
