package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrThere is wrapped by the error of WriteNew for a file that is there with other content.
var ErrThere = errors.New("a file of that name is there, and has other content")

// WriteNew writes a file so that it is there whole or not at all, and never over one that is
// there: one with the same content stays, and is as good as written. The root keeps a
// hostile name from leading out of the directory.
func WriteNew(root *os.Root, name string, b []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fmt.Errorf("making a directory for %s: %w", name, err)
	}
	part, err := writePart(root, name, b)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	err = root.Link(part, name) // fails if the name is taken, by whatever
	switch {
	case errors.Is(err, fs.ErrExist):
		err = sameContent(root, name, b)
	case err != nil: // a file system without links
		err = writeOnce(root, name, b)
	}
	if err = errors.Join(err, root.Remove(part)); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// parts bounds how many names are tried for a file that is being written: others may have
// been left by a crash, or belong to the user.
const parts = 100

// writePart writes a file beside name, under a name that was free.
func writePart(root *os.Root, name string, b []byte) (part string, err error) {
	for n := range parts {
		part = filepath.Join(filepath.Dir(name), fmt.Sprintf("part-%d.tmp", n))
		if err = writeOnce(root, part, b); !errors.Is(err, ErrThere) {
			return part, err
		}
	}
	return part, err
}

// writeOnce writes a file of a name that is free, or nothing.
func writeOnce(root *os.Root, name string, b []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return ErrThere
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

// sameContent reports ErrThere unless a file has that content.
func sameContent(root *os.Root, name string, b []byte) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != int64(len(b)) {
		return ErrThere
	}
	there, err := root.ReadFile(name)
	if err == nil && !bytes.Equal(there, b) {
		err = ErrThere
	}
	return err
}
