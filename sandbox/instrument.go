package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"godwit/sandbox/freeze"
)

// The instrumented form of a module is kept in a file, beside the compiled
// code, which is as much trusted: see Config.CacheDir. It is
//
//	8 bytes   length of the layout, little endian
//	layout    gob
//	rest      the instrumented module, then the SHA-256 of all before it
//
// and its name says what it was made from and how. That it is there says too
// that the original was validated, which takes a third as long as to run the
// pass. Of a valid module that cannot be frozen a file of another name keeps
// why, with its SHA-256. A file that is damaged counts for none.

// refusedSuffix ends the name of what is kept of a module that cannot be frozen.
const refusedSuffix = "-refused"

// A refusal is a reason why a module cannot be frozen, from the cache.
type refusal string

func (r refusal) Error() string { return string(r) }
func (refusal) Unwrap() error   { return freeze.ErrRefused }

// instrumented returns a module with safe points, from the cache where it is
// there. The error is about the module, or wraps freeze.ErrRefused.
func instrumented(ctx context.Context, dir string, wasm []byte, sum [sha256.Size]byte,
	o freeze.Options) (*freeze.Program, error) {
	path := ""
	if dir != "" {
		path = filepath.Join(dir, fmt.Sprintf("frozen-%d", freeze.PassVersion), fmt.Sprintf("%x-%t", sum, o.KeepNaNs))
		if prog, err := readInstrumented(path, wasm); err == nil {
			return prog, nil
		}
		if why, err := readSealed(path + refusedSuffix); err == nil {
			return nil, refusal(why)
		}
	}
	// The pass does not check what it is given; nothing else has yet.
	if err := validate(ctx, wasm); err != nil {
		return nil, err
	}
	prog, err := freeze.Instrument(wasm, o)
	if path == "" {
		return prog, err
	}
	// A cache that fails costs time.
	switch {
	case err == nil:
		_ = writeInstrumented(path, prog)
	case errors.Is(err, freeze.ErrRefused):
		_ = writeSealed(path+refusedSuffix, []byte(err.Error()))
	}
	return prog, err
}

func readInstrumented(path string, wasm []byte) (*freeze.Program, error) {
	b, err := readSealed(path)
	if err != nil {
		return nil, err
	}
	if len(b) < 8 {
		return nil, errors.New("cut short")
	}
	size := binary.LittleEndian.Uint64(b)
	if size > uint64(len(b)-8) {
		return nil, errors.New("cut short")
	}
	var l freeze.Layout
	if err := gob.NewDecoder(bytes.NewReader(b[8 : 8+size])).Decode(&l); err != nil {
		return nil, fmt.Errorf("decoding a layout: %w", err)
	}
	return freeze.Load(wasm, b[8+size:], l)
}

func writeInstrumented(path string, prog *freeze.Program) error {
	var l bytes.Buffer
	if err := gob.NewEncoder(&l).Encode(prog.Layout); err != nil {
		return fmt.Errorf("encoding a layout: %w", err)
	}
	return writeSealed(path, binary.LittleEndian.AppendUint64(nil, uint64(l.Len())), l.Bytes(), prog.Wasm)
}

// readSealed returns what writeSealed wrote.
func readSealed(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := len(b) - sha256.Size
	if n < 0 {
		return nil, errors.New("cut short")
	}
	if sum := sha256.Sum256(b[:n]); !bytes.Equal(sum[:], b[n:]) {
		return nil, errors.New("damaged")
	}
	return b[:n], nil
}

// writeSealed writes the parts and their SHA-256, to a file of its own first:
// another child may be writing the same.
func writeSealed(path string, parts ...[]byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	sum := sha256.New()
	for _, p := range parts {
		sum.Write(p) // never fails
		if err == nil {
			_, err = f.Write(p)
		}
	}
	if err == nil {
		_, err = f.Write(sum.Sum(nil))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
