package sandbox

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"reflect"
	"sync"
	"unsafe"

	"github.com/tetratelabs/wazero"
)

// A codeCache is where a child's engine looks for compiled code, and puts what it has compiled. The engine offers only
// one of its own making for that, which opens files: a child has none. So this one takes its place, by its methods,
// which are those of the engine's internal interface.
type codeCache struct {
	mu      sync.Mutex
	program code // that came from the parent, or that load has had compiled
	loading bool // what is added is the program
	fresh   bool // the program was compiled here
	// resumes are modules of resume functions, that the same stack needs again.
	resumes map[[sha256.Size]byte][]byte
	size    int // of all resumes
}

// maxResumeCode is how much machine code of resume functions is kept beside what is in use: all is dropped beyond.
const maxResumeCode = 16 << 20

// newCodeCache returns a cache and the engine's, behind which it stands.
func newCodeCache() (*codeCache, wazero.CompilationCache, error) {
	c, cc := &codeCache{}, wazero.NewCompilationCache()
	v := reflect.Indirect(reflect.ValueOf(cc))
	if v.Kind() != reflect.Struct {
		return nil, nil, errors.New("the engine's cache is of another kind")
	}
	f := v.FieldByName("fileCache")
	if !f.IsValid() || f.Kind() != reflect.Interface || !reflect.TypeOf(c).Implements(f.Type()) {
		return nil, nil, errors.New("the engine's cache has changed")
	}
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(c))
	return c, cc, nil
}

// begin makes known what the parent has of a program, and that what comes next is of it. c may be nil.
func (c *codeCache) begin(known code) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.program, c.loading, c.fresh, c.resumes, c.size = known, true, false, nil, 0
}

// end returns the program's code if it was compiled here, and lets go of it. c may be nil.
func (c *codeCache) end() *code {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	made, fresh := c.program, c.fresh
	c.program, c.loading, c.fresh = code{}, false, false
	if !fresh {
		return nil
	}
	return &made
}

// Get is the engine's: it returns what Add was given, or reports false.
func (c *codeCache) Get(key [sha256.Size]byte) (io.ReadCloser, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.resumes[key]
	if c.program.key == key {
		b = c.program.data
	}
	if b == nil {
		return nil, false, nil
	}
	return io.NopCloser(bytes.NewReader(b)), true, nil
}

// Add is the engine's: it keeps compiled code.
func (c *codeCache) Add(key [sha256.Size]byte, content io.Reader) error {
	b, err := whole(content)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.loading:
		c.program, c.fresh = code{key, b}, true
	case len(b) <= maxResumeCode:
		if c.size += len(b); c.size > maxResumeCode || c.resumes == nil {
			c.resumes, c.size = map[[sha256.Size]byte][]byte{}, len(b)
		}
		c.resumes[key] = b
	}
	return nil
}

// Delete is the engine's: it forgets code of another version of the engine.
func (c *codeCache) Delete(key [sha256.Size]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program.key == key {
		c.program = code{}
	}
	c.size -= len(c.resumes[key])
	delete(c.resumes, key)
	return nil
}

// whole reads all. What lies in memory in one piece already is not copied.
func whole(r io.Reader) ([]byte, error) {
	if w, ok := r.(*bytes.Reader); ok {
		var p piece
		_, err := w.WriteTo(&p)
		return p.b, err
	}
	return io.ReadAll(r)
}

// A piece keeps what is written to it at once.
type piece struct{ b []byte }

func (p *piece) Write(b []byte) (int, error) {
	p.b = b
	return len(b), nil
}
