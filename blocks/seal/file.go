package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A sealed file is its chunks, sealed one by one: all but the last of Chunk bytes, and an
// empty file is one chunk that holds nothing.

// Size returns how many bytes a file of so many has when it is sealed; 0 and more.
func (s *Sealer) Size(plain int64) int64 {
	if s == nil {
		return plain
	}
	return plain + Overhead*max(1, (plain+plainChunk-1)/plainChunk)
}

// Plain is the inverse of Size. It fails for a size that no sealed file has.
func (s *Sealer) Plain(sealed int64) (int64, error) {
	if s == nil {
		return sealed, nil
	}
	plain := sealed - Overhead*((sealed+Chunk-1)/Chunk)
	if sealed < 0 || plain < 0 || s.Size(plain) != sealed {
		return 0, fmt.Errorf("%w: a file of %d bytes", ErrSealed, sealed)
	}
	return plain, nil
}

// Sealing returns a reader of a file's sealed form.
func (s *Sealer) Sealing(file io.Reader) io.Reader {
	if s == nil {
		return file
	}
	seal := func(b []byte) ([]byte, error) { return s.Seal(b), nil }
	return &stream{from: file, chunk: make([]byte, plainChunk), turn: seal}
}

// Opening returns a reader of what a sealed file holds. Its error is ErrSealed for a file
// that was not sealed with this key.
func (s *Sealer) Opening(sealed io.Reader) io.Reader {
	if s == nil {
		return sealed
	}
	return &stream{from: sealed, chunk: make([]byte, Chunk), turn: s.Open}
}

// SealFile is Sealing of a file in memory.
func (s *Sealer) SealFile(plain []byte) []byte {
	if s == nil {
		return plain
	}
	out := make([]byte, 0, s.Size(int64(len(plain))))
	for {
		n := min(len(plain), plainChunk)
		out = append(out, s.Seal(plain[:n])...)
		if plain = plain[n:]; len(plain) == 0 {
			return out
		}
	}
}

// OpenFile is Opening of a file in memory.
func (s *Sealer) OpenFile(sealed []byte) ([]byte, error) {
	if s == nil {
		return sealed, nil
	}
	if _, err := s.Plain(int64(len(sealed))); err != nil {
		return nil, err
	}
	return io.ReadAll(s.Opening(bytes.NewReader(sealed)))
}

// A stream reads a file chunk by chunk and gives what each is turned into.
type stream struct {
	from  io.Reader
	chunk []byte
	turn  func([]byte) ([]byte, error)
	ready []byte // of the last chunk, not given yet
	began bool
	end   error // that follows ready; nil while chunks may follow
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(s.ready) == 0 {
		if s.end != nil {
			return 0, s.end
		}
		s.next()
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// next turns another chunk.
func (s *stream) next() {
	n, err := io.ReadFull(s.from, s.chunk)
	switch {
	case errors.Is(err, io.EOF) && s.began:
		s.end = io.EOF
		return
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		s.end = io.EOF
	case err != nil:
		s.end = err
		return
	}
	s.began = true
	ready, err := s.turn(s.chunk[:n])
	if err != nil {
		s.end = err
		return
	}
	s.ready = ready
}
