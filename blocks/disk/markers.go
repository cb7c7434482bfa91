package disk

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	optionsPrefix  = "OPTIONS-"
	manifestMarker = "marker.manifest."
	formatMarker   = "marker.format-version."
)

// prepare mends what it can in a database's directory before the database is opened, without any
// loss. Nothing else may use the directory. Files of options contain no data, and the database writes
// a new one whenever it opens, so they are removed: a damaged one would keep it from opening.
func prepare(fsys vfs.FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, optionsPrefix) {
			if err := fsys.Remove(fsys.PathJoin(dir, name)); err != nil {
				return err
			}
		}
	}
	current, err := markers(fsys, dir, names)
	if err != nil || current == "" {
		return err
	}
	m, err := mendManifest(fsys, fsys.PathJoin(dir, current))
	if err != nil || !m.whole {
		return err // if it is not whole, the database says so when it opens
	}
	return checkLogs(fsys, dir, numbered(names, logSuffix), m.version.minLog)
}

// checkLogs returns ErrCorrupt if a log that is not in tables yet is damaged before its end. The
// database itself takes some of this damage for the end of the log, and drops all that follows.
func checkLogs(fsys vfs.FS, dir string, logs []uint64, least uint64) error {
	for _, n := range logs {
		if n < least {
			continue
		}
		name := fsys.PathJoin(dir, fmt.Sprintf("%06d%s", n, logSuffix))
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		read, err := readRecords(f, uint32(n&math.MaxUint32), func([]byte) bool { return true })
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if read.damaged > 0 {
			return fmt.Errorf("%w: %s is damaged before its end", ErrCorrupt, name)
		}
	}
	return nil
}

// markers returns the name of the current manifest, "" for a database that is not made yet. Two empty
// files bear this name and the format in their own. Without them the database would begin anew, and
// remove all tables: so they are made again where there are tables.
func markers(fsys vfs.FS, dir string, names []string) (string, error) {
	current, format := marked(names, manifestMarker), marked(names, formatMarker)
	tables := slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, tableSuffix) })
	if !tables {
		return current, nil
	}
	make := func(name string) error {
		f, err := fsys.Create(fsys.PathJoin(dir, name), vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		return f.Close()
	}
	if current == "" {
		if current = newestManifest(names); current == "" {
			return "", fmt.Errorf("%w: %s has tables and no manifest", ErrCorrupt, dir)
		}
		if err := make(manifestMarker + "000001." + current); err != nil {
			return "", err
		}
	}
	if format == "" {
		return current, make(fmt.Sprintf("%s000001.%03d", formatMarker, uint64(pebble.FormatValueSeparation)))
	}
	return current, nil
}

// marked returns the value of the newest marker of a kind: its name is kind, number, dot, value.
func marked(names []string, kind string) (value string) {
	newest := uint64(0)
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, kind)
		number, v, _ := strings.Cut(rest, ".")
		n, err := strconv.ParseUint(number, 10, 64)
		if ok && err == nil && v != "" && n >= newest {
			newest, value = n, v
		}
	}
	return value
}

// newestManifest returns the manifest with the highest number, "" if there is none.
func newestManifest(names []string) (newest string) {
	highest := uint64(0)
	for _, name := range names {
		n, err := strconv.ParseUint(strings.TrimPrefix(name, manifestPrefix), 10, 64)
		if isManifest(name) && err == nil && n >= highest {
			newest, highest = name, n
		}
	}
	return newest
}
