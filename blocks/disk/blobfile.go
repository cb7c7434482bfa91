package disk

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The end of a blob file, in which pebble keeps large values: a checksum of the
// rest, places and versions, and a magic word.
const (
	blobSuffix = ".blob"
	blobFooter = 38
	blobMagic  = "\xf0\x9f\xaa\xb3\xf0\x9f\xa6\x80"

	crcDelta = 0xa282ead8 // added to a checksum that is stored, as in LevelDB
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Open implements vfs.FS. Pebble panics when the end of a blob file is damaged, also
// when it tidies up by itself, so that is looked at here.
func (d *disk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := d.FS.Open(name, opts...)
	if err != nil || !strings.HasSuffix(name, blobSuffix) {
		return f, err
	}
	if err := checkBlob(f); err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrCorrupt, name, err)
		d.fail(err)
		time.Sleep(roomEvery) // pebble tries again and again
		return nil, fmt.Errorf("%w, %v", err, f.Close())
	}
	return f, nil
}

func checkBlob(f vfs.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < blobFooter {
		return fmt.Errorf("it has %d bytes", info.Size())
	}
	var b [blobFooter]byte
	if _, err := f.ReadAt(b[:], info.Size()-blobFooter); err != nil {
		return err
	}
	sum := bits.RotateLeft32(crc32.Checksum(b[4:], castagnoli), 17) + crcDelta
	if string(b[blobFooter-len(blobMagic):]) != blobMagic || sum != binary.LittleEndian.Uint32(b[:]) {
		return fmt.Errorf("its end is damaged")
	}
	return nil
}
