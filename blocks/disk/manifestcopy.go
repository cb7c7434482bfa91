package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A manifest says which of a database's files contain its pairs, and nothing else does. So each
// manifest is written twice: the copy replaces one that is damaged.
const (
	manifestPrefix = "MANIFEST-"
	copySuffix     = ".copy" // no name of pebble's ends so
	mendSuffix     = ".mend"

	// maxManifest is far above a manifest, in bytes: a database begins a new one at 1 MiB, or where
	// the list of its files is longer than that, of which each takes 100 bytes.
	maxManifest = 256 << 20
)

func isManifest(base string) bool {
	return strings.HasPrefix(base, manifestPrefix) && !strings.HasSuffix(base, copySuffix) &&
		!strings.HasSuffix(base, mendSuffix)
}

// copied returns a file whose writes also go to a copy. Without space for the copy there is none.
func (d *disk) copied(name string, f vfs.File) vfs.File {
	c, err := d.FS.Create(name+copySuffix, vfs.WriteCategoryUnspecified)
	if err != nil {
		return f
	}
	return &copiedFile{File: f, fs: d.FS, name: name + copySuffix, copy: c}
}

// A copiedFile is a manifest that is being written, and its copy.
type copiedFile struct {
	vfs.File
	fs   vfs.FS
	name string   // of the copy
	copy vfs.File // nil if there is none any more
}

// drop gives the copy up after an error: part of it would be no copy.
func (f *copiedFile) drop(err error) {
	if err == nil || f.copy == nil {
		return
	}
	_ = f.copy.Close()
	_ = f.fs.Remove(f.name)
	f.copy = nil
}

// Write implements vfs.File.
func (f *copiedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	if f.copy != nil {
		_, e := f.copy.Write(b[:n])
		f.drop(errors.Join(err, e))
	}
	return n, err
}

// Sync implements vfs.File.
func (f *copiedFile) Sync() error {
	err := f.File.Sync()
	if f.copy != nil {
		f.drop(f.copy.Sync())
	}
	return err
}

// Close implements vfs.File.
func (f *copiedFile) Close() error {
	if f.copy != nil {
		_ = f.copy.Close()
	}
	return f.File.Close()
}

// Remove implements vfs.FS. A manifest's copy goes with it.
func (d *disk) Remove(name string) error {
	if isManifest(d.PathBase(name)) {
		_ = d.FS.Remove(name + copySuffix)
	}
	return d.FS.Remove(name)
}

// A manifest is what was readable of one.
type manifest struct {
	bytes   []byte
	edits   int
	version *version
	whole   bool
}

// readManifest reads a manifest as far as it is readable. A manifest that is not there has no edits.
func readManifest(fsys vfs.FS, name string) (manifest, error) {
	m := manifest{version: newVersion()}
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	defer f.Close()
	if m.bytes, err = io.ReadAll(io.LimitReader(f, maxManifest+1)); err != nil {
		return m, err
	}
	if len(m.bytes) > maxManifest {
		return m, fmt.Errorf("%w: %s has more than %d bytes", ErrCorrupt, name, maxManifest)
	}
	bad := false
	read, err := readRecords(bytes.NewReader(m.bytes), 0, func(edit []byte) bool {
		m.edits++
		bad = m.version.add(edit) != nil || bad
		return true
	})
	m.whole = !bad && read.damaged == 0 && !read.torn && m.version.named
	return m, err
}

// mendManifest replaces a manifest by its copy if the manifest is damaged, or lost its end, and the
// copy is whole. It returns the manifest as it is now.
func mendManifest(fsys vfs.FS, name string) (manifest, error) {
	m, err := readManifest(fsys, name)
	if err != nil {
		return m, err
	}
	c, err := readManifest(fsys, name+copySuffix)
	if err != nil {
		return m, err
	}
	lostEnd := m.whole && c.edits > m.edits && bytes.HasPrefix(c.bytes, m.bytes)
	if !c.whole || m.whole && !lostEnd || c.edits < m.edits {
		return m, nil
	}
	slog.Warn("store: a damaged manifest is replaced by its copy", "file", name)
	return c, replace(fsys, name, c.bytes)
}

// replace writes a file whole or not at all.
func replace(fsys vfs.FS, name string, b []byte) error {
	f, err := fsys.Create(name+mendSuffix, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := fsys.Rename(name+mendSuffix, name); err != nil {
		return err
	}
	dir, err := fsys.OpenDir(fsys.PathDir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
