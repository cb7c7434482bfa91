package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"godwit/internal/failure"
	"godwit/node"
)

// Each failure at startup that a person can mend has a remedy, and exit code 1.
func TestStartFailuresHaveRemedies(t *testing.T) {
	cfg := node.Config{DataDir: "/srv/godwit"}
	for why, want := range map[error]string{
		node.ErrInUse:        "--data-dir",
		node.ErrIdentity:     "restore the file from a backup",
		node.ErrDamaged:      "godwit overlay join",
		node.ErrStoreDamaged: "godwit doctor --store",
		node.ErrDiskFull:     "free space",
		syscall.EMFILE:       "ulimit -n",
		syscall.ENFILE:       "ulimit -n",
		syscall.EROFS:        "/srv/godwit",
		fs.ErrPermission:     "/srv/godwit",
		errors.New("store: marker: too many open files"): "ulimit -n",
	} {
		err := startFailure(fmt.Errorf("opening /srv/godwit/store: %w", why), cfg)
		var f *failure.Error
		if !errors.As(err, &f) || f.Code != failure.ExitFailed || !strings.Contains(f.Hint, want) ||
			!strings.Contains(err.Error(), "/srv/godwit/store") {
			t.Errorf("%v: %+v, want a hint with %q", why, f, want)
		}
	}
}
