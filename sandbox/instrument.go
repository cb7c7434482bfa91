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
// and its name says what it was made from and how.

// instrumented returns a module with safe points, from the cache where it is
// there. The error is about the module, or wraps freeze.ErrRefused.
func instrumented(ctx context.Context, dir string, wasm []byte, sum [sha256.Size]byte, o freeze.Options) (*freeze.Program, error) {
	path := ""
	if dir != "" {
		path = filepath.Join(dir, fmt.Sprintf("frozen-%d", freeze.PassVersion), fmt.Sprintf("%x-%t", sum, o.KeepNaNs))
		if prog, err := readInstrumented(path, wasm); err == nil {
			return prog, nil
		}
	}
	// The pass does not check what it is given; nothing else has yet.
	if err := freeze.Validate(ctx, wasm); err != nil {
		return nil, invalid(Malformed, "", "%v", err)
	}
	prog, err := freeze.Instrument(wasm, o)
	if err != nil {
		return nil, err
	}
	if path != "" {
		_ = writeInstrumented(path, prog) // a cache that fails costs time
	}
	return prog, nil
}

func readInstrumented(path string, wasm []byte) (*freeze.Program, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := len(b) - sha256.Size
	if n < 8 {
		return nil, errors.New("cut short")
	}
	if sum := sha256.Sum256(b[:n]); !bytes.Equal(sum[:], b[n:]) {
		return nil, errors.New("damaged")
	}
	size := binary.LittleEndian.Uint64(b)
	if size > uint64(n-8) {
		return nil, errors.New("cut short")
	}
	var l freeze.Layout
	if err := gob.NewDecoder(bytes.NewReader(b[8 : 8+size])).Decode(&l); err != nil {
		return nil, fmt.Errorf("decoding a layout: %w", err)
	}
	return freeze.Load(wasm, b[8+size:n], l)
}

// writeInstrumented writes to a file of its own first: another child may be
// writing the same.
func writeInstrumented(path string, prog *freeze.Program) error {
	var l bytes.Buffer
	if err := gob.NewEncoder(&l).Encode(prog.Layout); err != nil {
		return fmt.Errorf("encoding a layout: %w", err)
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(l.Len()))
	b = append(append(b, l.Bytes()...), prog.Wasm...)
	sum := sha256.Sum256(b)
	b = append(b, sum[:]...)
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
