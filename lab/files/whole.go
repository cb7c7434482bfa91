package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteWhole writes a file so that it is there whole or not at all. The root
// keeps a hostile name from leading out of the directory.
func WriteWhole(root *os.Root, name string, b []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fmt.Errorf("making a directory for %s: %w", name, err)
	}
	part := name + ".part"
	if err := root.WriteFile(part, b, 0o666); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := root.Rename(part, name); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", name, err), root.Remove(part))
	}
	return nil
}
