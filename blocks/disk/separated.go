package disk

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Values of a kibibyte and more lie in files of their own. A table only numbers these files; the
// manifest says which files they are. Pebble's types for both numbers cannot be named outside of
// pebble, so that the types here have them as parameters, which values of pebble's give.

// unknownValues stands for a file of values of which no manifest says which it is.
const unknownValues = 1 << 48

// A separated reads values that lie outside of tables.
type separated[I, N ~uint64] struct {
	fs      vfs.FS
	dir     string
	files   map[uint64]uint64 // by ID: the numbers of files of values
	options blob.FileReaderOptions
	fetcher fetcher[I]
}

// newSeparated returns a reader of the values of a database. The last two arguments only give types.
func newSeparated[I, N ~uint64](fsys vfs.FS, dir string, options sstable.ReaderOptions, _ I, _ N) *separated[I, N] {
	of := &blob.ValueFetcher{}
	s := &separated[I, N]{fs: fsys, dir: dir, fetcher: any(of).(fetcher[I])}
	s.options.ReaderOptions = options.ReaderOptions
	of.Init(any(s).(blob.FileMapping), any(s).(blob.ReaderProvider), block.NoReadEnv)
	return s
}

// A fetcher reads a value at a place in a file of values.
type fetcher[I ~uint64] interface {
	FetchHandle(ctx context.Context, handle []byte, file I, size uint32, buf []byte) ([]byte, bool, error)
}

// Lookup implements blob.FileMapping.
func (s *separated[I, N]) Lookup(id I) (N, bool) {
	n, ok := s.files[uint64(id)]
	return N(n), ok
}

// GetValueReader implements blob.ReaderProvider.
func (s *separated[I, N]) GetValueReader(ctx context.Context, file N) (blob.ValueReader, func(), error) {
	f, err := s.fs.Open(s.fs.PathJoin(s.dir, fmt.Sprintf("%06d%s", uint64(file), valuesSuffix)))
	if err != nil {
		return nil, nil, err
	}
	readable, err := readableFile(f)
	if err != nil {
		return nil, nil, err
	}
	r, err := blob.NewFileReader(ctx, readable, s.options)
	if err != nil {
		_ = readable.Close()
		return nil, nil, err
	}
	return r, func() { _ = r.Close() }, nil
}

// readableFile returns a file as tables are read from it. With an error the file is closed.
func readableFile(f vfs.File) (objstorage.Readable, error) {
	r, err := sstable.NewSimpleReadable(f)
	if err != nil {
		_ = f.Close()
	}
	return r, err
}

// FetchHandle implements the fetcher that tables call for a value. A place in another file than the
// right one is never tried, because pebble does not check places.
func (s *separated[I, N]) FetchHandle(ctx context.Context, handle []byte, id I, size uint32, buf []byte) (
	[]byte, bool, error) {
	if id == unknownValues {
		return nil, false, fmt.Errorf("%w: no manifest says where the value is", ErrCorrupt)
	}
	return s.fetcher.FetchHandle(ctx, handle, id, size, buf)
}

// context returns what a table needs to read its values. known is false if no manifest lists the
// table, and refs are the files that its values are in.
func (s *separated[I, N]) context(known bool, refs []uint64) sstable.TableBlobContext {
	c := sstable.TableBlobContext{References: any(references[I]{known, refs}).(sstable.BlobReferences)}
	set(&c.ValueFetcher, s)
	return c
}

// set assigns a value to an interface of pebble's that cannot be named.
func set[F any](to *F, v any) { *to = v.(F) }

// references are the files that the values of a table are in.
type references[I ~uint64] struct {
	known bool
	ids   []uint64
}

// BlobFileIDByID implements sstable.BlobReferences.
func (r references[I]) BlobFileIDByID(i blob.ReferenceID) I {
	if r.known && uint64(i) < uint64(len(r.ids)) {
		return I(r.ids[i])
	}
	return unknownValues
}

// IDByBlobFileID implements sstable.BlobReferences.
func (r references[I]) IDByBlobFileID(id I) (blob.ReferenceID, bool) {
	for i, known := range r.ids {
		if known == uint64(id) {
			return blob.ReferenceID(i), true
		}
	}
	return 0, false
}
