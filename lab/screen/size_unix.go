//go:build unix

package screen

import (
	"os"

	"golang.org/x/sys/unix"
)

// size asks the system for a terminal's columns and lines.
func size(f *os.File) (columns, lines int, ok bool) {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	return int(w.Col), int(w.Row), true
}
