package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lends says that files of this host can be lent to a child.
const lends = true

// borrowFrom is the descriptor at which a child finds its end of the lender: the first
// after standard input, output and error.
const borrowFrom = 3

// A lender gives a child open files of this host, to be read where they lie: neither has
// them in memory of its own, and the child needs no path. What the child could do with a
// descriptor is to read that one file.
type lender struct{ end *os.File }

// newLender returns a lender, and the end that the child is to have at borrowFrom.
func newLender() (*lender, *os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket: %w", err)
	}
	return &lender{os.NewFile(uintptr(ends[0]), "lender")}, os.NewFile(uintptr(ends[1]), "borrower"), nil
}

// lend sends a file that is open for reading. It waits while many are on their way.
func (l *lender) lend(f *os.File) error {
	err := unix.Sendmsg(int(l.end.Fd()), []byte{0}, unix.UnixRights(int(f.Fd())), nil, unix.MSG_NOSIGNAL)
	if err != nil {
		return fmt.Errorf("lending a file: %w", err)
	}
	return nil
}

func (l *lender) close() error { return l.end.Close() }

// borrow takes the next file, of so many bytes, into this process's address space; its
// pages are the system's, and are read when they are used. Its caller gives them back.
func borrow(size int64) ([]byte, error) {
	if size <= 0 || int64(int(size)) != size {
		return nil, fmt.Errorf("a file of %d bytes cannot be borrowed", size)
	}
	control := make([]byte, unix.CmsgSpace(4)) // one descriptor
	_, n, _, _, err := unix.Recvmsg(borrowFrom, make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("borrowing a file: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("borrowing a file: none came")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("borrowing a file: none came")
	}
	defer unix.Close(fds[0])
	b, err := unix.Mmap(fds[0], 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("borrowing a file: %w", err)
	}
	return b, nil
}

// giveBack ends a borrowing: nothing may refer to the bytes any more.
func giveBack(b []byte) { _ = unix.Munmap(b) }
