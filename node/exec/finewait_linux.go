package exec

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A fineTimer waits as exactly as the system can. The runtime's timers end up to a
// millisecond late where a process does nothing else meanwhile: it waits for the network
// in whole ones.
type fineTimer struct{ file *os.File }

// newFineTimer returns a timer, or nil where the system gives none.
func newFineTimer() *fineTimer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC) // the runtime polls it
	if err != nil {
		return nil
	}
	return &fineTimer{file: os.NewFile(uintptr(fd), "timerfd")}
}

// wait waits for so long, or not at all if the system fails: whoever waits looks at the
// time again.
func (t *fineTimer) wait(d time.Duration) {
	raw, err := t.file.SyscallConn()
	if err != nil {
		return
	}
	after := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, int64(d)))}
	var set error
	err = raw.Control(func(fd uintptr) { set = unix.TimerfdSettime(int(fd), 0, &after, nil) })
	if err != nil || set != nil {
		return
	}
	// While the process is busy the runtime looks at its own timers more often than at files.
	if err := t.file.SetReadDeadline(time.Now().Add(d)); err != nil {
		return
	}
	var expired [8]byte
	t.file.Read(expired[:])
}

func (t *fineTimer) close() { t.file.Close() }
