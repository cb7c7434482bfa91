package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openTUN makes a TUN device in this namespace: packets that the system sends
// through it are read from the file, and those written there arrive. It stays
// the file's wherever it is moved, and goes when the file is closed.
func openTUN() (file *os.File, name string, err error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", fmt.Errorf("opening /dev/net/tun: %w", err)
	}
	req, err := unix.NewIfreq("chaos%d") // the system finds a free number
	if err == nil {
		req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		unix.Close(fd)
		return nil, "", fmt.Errorf("making a TUN device: %w", err)
	}
	return os.NewFile(uintptr(fd), "/dev/net/tun"), req.Name(), nil
}
