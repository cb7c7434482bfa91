package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Names of a database's files end so, after a number.
const (
	logSuffix    = ".log"
	valuesSuffix = ".blob"
)

// The remains are the files of a database that may be damaged. They are only read.
type remains struct {
	fs      vfs.FS
	dir     string
	version *version // what is readable of the manifests; no table if nothing is
	// exact is set if a whole manifest was read: then the tables and logs that contain pairs are
	// known, and which are newer.
	exact   bool
	options sstable.ReaderOptions
	schema  *colblk.KeySchema
	values  valueReader

	tables, logs []uint64 // numbers of the files that are there
}

// A valueReader reads values that lie outside of tables: a separated.
type valueReader interface {
	context(known bool, refs []uint64) sstable.TableBlobContext
}

// errNoDatabase is returned for a directory without any file of a database.
var errNoDatabase = errors.New("no database")

// openRemains looks at the files of a database in a directory.
func openRemains(fsys vfs.FS, dir string) (*remains, error) {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoDatabase
	}
	if err != nil {
		return nil, err
	}
	options := &pebble.Options{FS: fsys}
	options.EnsureDefaults()
	r := &remains{fs: fsys, dir: dir, version: newVersion(), options: options.MakeReaderOptions(),
		schema: options.KeySchemas[options.KeySchema],
		tables: numbered(names, tableSuffix), logs: numbered(names, logSuffix)}
	if len(r.tables) == 0 && len(r.logs) == 0 {
		return nil, errNoDatabase
	}
	if err := r.readManifests(names); err != nil {
		return nil, err
	}
	values := newSeparated(fsys, dir, r.options, blob.Handle{}.BlobFileID, objstorage.ObjectMetadata{}.DiskFileNum)
	values.files = r.version.blobs
	r.values = values
	return r, nil
}

// numbered returns the numbers of the files with a suffix, in order.
func numbered(names []string, suffix string) (out []uint64) {
	for _, name := range names {
		text, ok := strings.CutSuffix(name, suffix)
		if n, err := strconv.ParseUint(text, 10, 64); ok && err == nil && name == fmt.Sprintf("%06d%s", n, suffix) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func (r *remains) path(number uint64, suffix string) string {
	return r.fs.PathJoin(r.dir, fmt.Sprintf("%06d%s", number, suffix))
}

// readManifests reads the current manifest, or its copy if that knows more. If neither is whole, it
// adds up all that is readable of any manifest: tables that later edits deleted are mostly gone.
func (r *remains) readManifests(names []string) error {
	current := marked(names, manifestMarker)
	if current == "" {
		current = newestManifest(names)
	}
	var best manifest
	for _, name := range []string{current, current + copySuffix} {
		m, err := readManifest(r.fs, r.fs.PathJoin(r.dir, name))
		if err != nil {
			return err
		}
		if current != "" && m.whole && m.edits > best.edits {
			best = m
		}
	}
	if r.exact = best.whole; r.exact {
		r.version = best.version
		return nil
	}
	for _, name := range names {
		if !isManifest(strings.TrimSuffix(name, copySuffix)) {
			continue
		}
		m, err := readManifest(r.fs, r.fs.PathJoin(r.dir, name))
		if err != nil {
			return err
		}
		r.version.join(m.version)
	}
	return nil
}

// A pair is a pair that a database contains, or the deletion of one.
type pair struct {
	key, value []byte
	deleted    bool
}

// Losses count what is not readable of a database.
type losses struct {
	tables, logs int // files that are missing, or unreadable in part
	values       int // values that are missing, or unreadable
}

func (l losses) any() bool { return l != losses{} }

// each calls see with the pairs that are readable, older ones before newer ones of the same key. The
// pair is valid only during the call. Without a whole manifest the order of tables is guessed, and a
// deletion may be lost.
func (r *remains) each(see func(pair) error) (lost losses, _ error) {
	order, newest := r.order(&lost)
	for _, t := range order {
		if err := r.eachOfTable(t, see, &lost); err != nil {
			return lost, err
		}
	}
	for _, n := range r.logs {
		if r.exact && n < r.version.minLog {
			continue // its pairs are in tables
		}
		if err := r.eachOfLog(n, newest, see, &lost); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// A source is a table that is read.
type source struct {
	liveTable
	number uint64
	known  bool // a manifest lists the table
}

// order returns the tables to read, the oldest first, and the highest sequence number of their pairs
// if the logs have to be compared with it. In a database newer pairs are in higher levels.
func (r *remains) order(lost *losses) (order []source, newest uint64) {
	live := r.version.live()
	if r.exact {
		for n, t := range live {
			order = append(order, source{t, n, true})
		}
		slices.SortFunc(order, func(a, b source) int {
			return cmp.Or(cmp.Compare(b.level, a.level), cmp.Compare(a.newest, b.newest), cmp.Compare(a.number, b.number))
		})
		return order, 0
	}
	for _, n := range r.tables {
		t, known := live[n]
		t.file = n
		if r.gone(n, known) {
			continue
		}
		t.newest = r.newestOf(n)
		newest = max(newest, t.newest)
		order = append(order, source{t, n, known})
	}
	for n := range live {
		if !slices.Contains(r.tables, n) {
			lost.tables++ // or a manifest's edit that deleted it is lost
		}
	}
	slices.SortFunc(order, func(a, b source) int {
		return cmp.Or(cmp.Compare(a.newest, b.newest), cmp.Compare(a.number, b.number))
	})
	return order, newest
}

// gone reports whether a manifest deletes a table and none has it live.
func (r *remains) gone(number uint64, live bool) bool {
	if live {
		return false
	}
	for p := range maps.Keys(r.version.deleted) {
		if p.number == number {
			return true
		}
	}
	return false
}
