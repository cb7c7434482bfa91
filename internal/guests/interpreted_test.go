package guests

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// no386 is why a test goes without 386. Emulation is no way out: Go's programs for
// 386 crash in qemu's.
const no386 = "the kernel runs 64-bit programs alone, as under some hypervisors"

// runs386 says whether the kernel runs programs for 386: one that was built is
// begun to see. Any fate but that it has the wrong format is good enough.
var runs386 = sync.OnceValue(func() bool {
	program, err := crossBuild("386")
	if err != nil {
		return true // whoever needs it will say why
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return true
	}
	defer null.Close()
	cmd := exec.Command(program, "sandbox")
	cmd.Stdin, cmd.Dir = null, filepath.Dir(program)
	return !errors.Is(cmd.Run(), syscall.ENOEXEC)
})
