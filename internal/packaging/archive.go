package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The modes of files in archives: those of a person's files are not given out.
const (
	modeProgram = 0o755
	modeFile    = 0o644
)

// A sink takes the files of an archive, one after the other.
type sink interface {
	add(name string, size int64, mode fs.FileMode, at time.Time) (io.Writer, error)
	Close() error
}

// archive writes the files below a directory, in the order of their names, all of one time. The directory's own name
// stands before theirs, so that they do not spill where the archive is opened.
func archive(dir, to string, at time.Time) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	var s sink
	switch {
	case strings.HasSuffix(to, ".zip"):
		s = &zipSink{zip.NewWriter(out)}
	case strings.HasSuffix(to, ".tar.gz"):
		z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
		if err != nil {
			return err
		}
		s = &tarSink{tar.NewWriter(z), z}
	default:
		return errUsage
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(filepath.Dir(dir), path)
		if err != nil {
			return err
		}
		return copyInto(s, path, filepath.ToSlash(rel), at)
	})
	return errors.Join(err, s.Close())
}

func copyInto(s sink, path, name string, at time.Time) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(modeFile)
	if info.Mode()&0o100 != 0 {
		mode = modeProgram
	}
	w, err := s.add(name, info.Size(), mode, at)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}

type tarSink struct {
	tar *tar.Writer
	z   *gzip.Writer
}

func (s *tarSink) add(name string, size int64, mode fs.FileMode, at time.Time) (io.Writer, error) {
	return s.tar, s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: int64(mode),
		ModTime: at, Format: tar.FormatUSTAR})
}

func (s *tarSink) Close() error { return errors.Join(s.tar.Close(), s.z.Close()) }

type zipSink struct{ zip *zip.Writer }

func (s *zipSink) add(name string, _ int64, mode fs.FileMode, at time.Time) (io.Writer, error) {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
	h.SetMode(mode)
	return s.zip.CreateHeader(h)
}

func (s *zipSink) Close() error { return s.zip.Close() }
