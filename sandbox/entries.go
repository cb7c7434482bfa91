package sandbox

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"godwit/sandbox/freeze"
)

// entries is the parent's store of what children have made of modules: see verdict. No child can reach it. An entry is
// given to children of the module alone that made it, and only if it bears the mark of a key that nobody else has: the
// code in it will run. A file is
//
//	an entry, then the HMAC-SHA256 of the file's name, a zero byte and the entry
//
// and its name says which module it is of, and what made it. A file that does not bear the mark counts for none.
type entries struct {
	dir string
	key []byte
}

const (
	keyFile  = "key"
	keySize  = 32
	markSize = sha256.Size
)

// openEntries opens the store in a directory, and is nil for "". A store that cannot be opened is nil too, and
// the error
// says why: it costs time, not the tasks.
func openEntries(dir string) (*entries, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of compiled modules: %w", err)
	}
	key, err := storeKey(filepath.Join(dir, keyFile))
	if err != nil {
		return nil, fmt.Errorf("the key of compiled modules: %w", err)
	}
	return &entries{dir, key}, nil
}

// storeKey reads the key, or makes one where there is none that can be used.
func storeKey(path string) ([]byte, error) {
	if key, err := os.ReadFile(path); err == nil && len(key) == keySize {
		return key, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-") // for its owner alone
	if err != nil {
		return nil, err
	}
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	_, err = f.Write(key)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	// Another program may have done the same just now: what is there counts.
	return os.ReadFile(path)
}

// A part is one of the entries of a module.
type part uint8

const (
	noPart part = iota
	verdictPart
	codePart
	parts
)

// key names a part among the contents of a child.
func (p part) key() string { return fmt.Sprintf("%skept/%d", transient, p) }

// path is where an entry of a module is. maker says what makes it: entries of other programs are of no use to it.
func (s *entries) path(module [sha256.Size]byte, maker string, p part) string {
	by := sha256.Sum256(fmt.Appendf(nil, "%d %s", freeze.PassVersion, maker))
	return filepath.Join(s.dir, fmt.Sprintf("%x-%x-%d", module, by[:8], p))
}

// mark begins the mark of a file.
func (s *entries) mark(path string) hash.Hash {
	h := hmac.New(sha256.New, s.key)
	fmt.Fprintf(h, "%s\x00", filepath.Base(path)) // never fails
	return h
}

// An offer is an entry of a store that is being read.
type offer struct {
	f    *os.File
	size int64 // of the entry
	mark hash.Hash
}

// open finds an entry. What it reads may be used only if check says so afterwards.
func (s *entries) open(path string) (*offer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.Size() < markSize {
		err = errors.New("cut short")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // so that the one least used can be told
	return &offer{f, st.Size() - markSize, s.mark(path)}, nil
}

// Read reads the entry.
func (o *offer) Read(b []byte) (int, error) {
	at, err := o.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	if at >= o.size {
		return 0, io.EOF
	}
	n, err := o.f.Read(b[:min(int64(len(b)), o.size-at)])
	o.mark.Write(b[:n])
	return n, err
}

// check reports whether all that was read bears the mark, and closes the offer.
func (o *offer) check() bool {
	defer o.f.Close()
	var mark [markSize]byte
	_, err := io.ReadFull(o.f, mark[:])
	return err == nil && hmac.Equal(mark[:], o.mark.Sum(nil))
}

// A making is an entry that a child sends.
type making struct {
	store *entries
	path  string
	f     *os.File
	mark  hash.Hash
	left  int64 // bytes that it may still have
}

// maxEntry is how large an entry may be: Go's compiler, of 48 MB, has one of 360 MB, and small modules have a host's
// share.
func maxEntry(module int64) int64 { return 16*module + 16<<20 }

// create begins an entry of at most so many bytes.
func (s *entries) create(path string, most int64) (*making, error) {
	f, err := os.CreateTemp(s.dir, "new-")
	if err != nil {
		return nil, err
	}
	return &making{s, path, f, s.mark(path), most}, nil
}

func (m *making) write(b []byte) error {
	if m.left -= int64(len(b)); m.left < 0 {
		return errors.New("too large")
	}
	m.mark.Write(b)
	_, err := m.f.Write(b)
	return err
}

// keep puts the entry in place, under the mark.
func (m *making) keep() error {
	_, err := m.f.Write(m.mark.Sum(nil))
	if err = errors.Join(err, m.f.Close()); err == nil {
		err = os.Rename(m.f.Name(), m.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(m.f.Name()))
	}
	return nil
}

// drop forgets what has come. m may be nil.
func (m *making) drop() {
	if m != nil {
		m.f.Close()
		_ = os.Remove(m.f.Name())
	}
}

// makings is what a child sends of its module while it loads that: the parent takes it until then, and no longer. A
// store that fails costs time.
type makings struct {
	entries *entries // nil to keep nothing
	module  [sha256.Size]byte
	maker   string
	most    int64 // bytes of one entry
	parts   [parts]*making
	failed  [parts]bool
}

// open finds an entry of the module.
func (m *makings) open(n part) (*offer, error) {
	return m.entries.open(m.entries.path(m.module, m.maker, n))
}

// take takes the next piece of an entry. It reports false of an entry that there is not.
func (m *makings) take(n part, piece []byte) bool {
	if n <= noPart || n >= parts {
		return false
	}
	if m.entries == nil || m.failed[n] {
		return true
	}
	var err error
	if m.parts[n] == nil {
		m.parts[n], err = m.entries.create(m.entries.path(m.module, m.maker, n), m.most)
	}
	if err == nil {
		err = m.parts[n].write(piece)
	}
	if err != nil {
		m.parts[n].drop()
		m.parts[n], m.failed[n] = nil, true
	}
	return true
}

// keep puts all entries that came in place.
func (m *makings) keep() error {
	var errs []error
	for n, p := range m.parts {
		if p != nil {
			errs = append(errs, p.keep())
			m.parts[n] = nil
		}
	}
	return errors.Join(errs...)
}

// drop forgets what has come. m may be nil.
func (m *makings) drop() {
	if m == nil {
		return
	}
	for n, p := range m.parts {
		p.drop()
		m.parts[n] = nil
	}
}

// makerOf names what a command is, wherever it lies: the engine's own name for its code tells apart processors and
// versions.
func makerOf(command []string, interpreted bool) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = filepath.Base(w)
	}
	return fmt.Sprintf("%t %s", interpreted, hex.EncodeToString([]byte(strings.Join(words, "\x00"))))
}
