package disk

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	ds "github.com/ipfs/go-datastore"
	"pgregory.net/rapid"
)

// written returns a file with records, as pebble writes manifests.
func written(t rapid.TB, records [][]byte) []byte {
	var b bytes.Buffer
	w := record.NewWriter(&b)
	for _, r := range records {
		if _, err := w.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Records that pebble wrote are read as they were. With one byte changed, all records are read that
// end a block before the byte, or begin a block after the byte, and none that was not written.
func TestRecordsAroundDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var records [][]byte
		for i := range rapid.IntRange(1, 40).Draw(t, "records") {
			n := rapid.SampledFrom([]int{0, 1, 100, 5000, recordBlock, 3 * recordBlock}).Draw(t, "size")
			records = append(records, append(bytes.Repeat([]byte{byte(i)}, n), byte(i), byte(n)))
		}
		file := written(t, records)
		read := func() (got [][]byte, f found) {
			f, err := readRecords(bytes.NewReader(file), 0, func(r []byte) bool {
				got = append(got, bytes.Clone(r))
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			return got, f
		}
		got, f := read()
		if len(got) != len(records) || f != (found{}) {
			t.Fatalf("%d of %d records, %+v", len(got), len(records), f)
		}
		at := rapid.IntRange(0, len(file)-1).Draw(t, "at")
		file[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		got, f = read()
		next := 0
		for _, r := range got {
			for next < len(records) && !bytes.Equal(records[next], r) {
				next++
			}
			if next == len(records) {
				t.Fatalf("a record of %d bytes was never written", len(r))
			}
			next++
		}
		if len(got) < len(records) && f.damaged == 0 && !f.torn {
			t.Errorf("%d of %d records are read, and no damage is reported", len(got), len(records))
		}
	})
}

// Whatever the bytes, reading them ends, and takes no more memory than they have.
func FuzzRecords(f *testing.F) {
	f.Add(written(f, [][]byte{[]byte("one"), bytes.Repeat([]byte{2}, 40000)}), uint32(0))
	f.Fuzz(func(t *testing.T, file []byte, number uint32) {
		total := 0
		if _, err := readRecords(bytes.NewReader(file), number, func(r []byte) bool {
			total += len(r)
			return true
		}); err != nil || total > len(file) {
			t.Errorf("%d bytes of %d: %v", total, len(file), err)
		}
	})
}

// Whatever the bytes, an edit is read whole or not at all, and has no more references than bytes.
func FuzzManifestEdit(f *testing.F) {
	f.Add([]byte("\x01\x04name\x02\x05\x03\x07\x04\x09"))
	f.Add([]byte("\x67\x06\x04\x90\x10\x01a\x01b\x01\x02\x45\x01\x02\x05\x06\x07\x08\x01"))
	f.Add([]byte("\x06\x06\x04\x6b\x01\x02\x03\x04\x05\x6c\x01\x02"))
	f.Fuzz(func(t *testing.T, edit []byte) {
		v := newVersion()
		err := v.add(edit)
		if err != nil && (len(v.added)+len(v.deleted)+len(v.blobs) > 0 || v.named) {
			t.Errorf("part of an edit counts: %v", err)
		}
		for _, table := range v.added {
			if len(table.values) > len(edit) {
				t.Errorf("%d references in %d bytes", len(table.values), len(edit))
			}
		}
	})
}

// The tables that a manifest lists are those that the database says it has.
func TestManifestListsLiveTables(t *testing.T) {
	s, err := open(t.TempDir()+"/store", vfs.Default)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 50 {
		b := &storeBatch{store: s}
		for j := range 20 {
			if err := b.Put(t.Context(), ds.NewKey(fmt.Sprint("/k", i*j%37)), bytes.Repeat([]byte{byte(i)}, 100*j)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i%5 == 4 {
			if err := s.log.pebble.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	names, err := s.disk.List(s.disk.PathJoin(s.disk.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", copySuffix} {
		m, err := readManifest(s.disk.FS, s.disk.PathJoin(s.disk.dir, "log", marked(names, manifestMarker)+suffix))
		if err != nil || !m.whole {
			t.Fatalf("%v, whole %t", err, m.whole)
		}
		live := m.version.live()
		levels, err := s.log.pebble.SSTables()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for level, tables := range levels {
			for _, table := range tables {
				n++
				if got, ok := live[uint64(table.FileNum)]; !ok || got.level != level || got.size != table.Size {
					t.Errorf("table %d at level %d: %+v, %t", table.FileNum, level, got, ok)
				}
			}
		}
		if n != len(live) || n == 0 {
			t.Errorf("%d tables of %d", len(live), n)
		}
	}
}
