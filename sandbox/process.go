package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"godwit/sandbox/wall"
)

// A launcher starts processes from one thread that lives as long as it does.
// Linux kills a child with the thread that started it, and the Go runtime ends
// threads as it likes. Its thread is also the place for what children inherit
// and the rest of the program must not have: see disown.
type launcher struct {
	starts chan start
	ended  chan struct{}
	shared atomic.Bool // the system permits no namespaces
}

type start struct {
	cmd  *exec.Cmd
	done chan error
}

func newLauncher() *launcher {
	l := &launcher{starts: make(chan start), ended: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it
		disown()
		defer close(l.ended)
		for s := range l.starts {
			s.done <- s.cmd.Start()
		}
	}()
	return l
}

func (l *launcher) start(cmd *exec.Cmd) error {
	s := start{cmd, make(chan error, 1)}
	l.starts <- s
	return <-s.done
}

// begin starts what command returns, in namespaces of its own where the system permits it.
func (l *launcher) begin(command func() *exec.Cmd) error {
	if !l.shared.Load() {
		cmd := command()
		own := wall.Namespaces(cmd.SysProcAttr)
		err := l.start(cmd)
		if err == nil || !own || !wall.NotPermitted(err) {
			return err
		}
		l.shared.Store(true)
	}
	return l.start(command())
}

// close ends the launcher's thread, and on Linux every child still running.
func (l *launcher) close() {
	close(l.starts)
	<-l.ended
}

// A process is a running child and the pipes to it.
type process struct {
	cmd    *exec.Cmd
	in     *os.File
	outEnd *os.File
	lender *lender // nil where files are not lent
	out    *bufio.Reader
	stderr *firstWords
	exited chan struct{} // closed when the process is gone and state is set
	state  *os.ProcessState
}

// waitDelay is how long the standard error of a dead child is waited for: a
// process that it left behind could hold it open.
const waitDelay = time.Second

// launch starts a child. Nothing of it is left if it fails.
func (l *launcher) launch(command []string, dir string, env ...string) (*process, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a pipe: %w", err), childIn.Close(), in.Close())
	}
	p := &process{in: in, outEnd: out, out: bufio.NewReaderSize(out, 64<<10), stderr: &firstWords{},
		exited: make(chan struct{})}
	var borrower *os.File
	if lends {
		if p.lender, borrower, err = newLender(); err != nil {
			return nil, errors.Join(err, childIn.Close(), in.Close(), out.Close(), childOut.Close())
		}
	}
	err = l.begin(func() *exec.Cmd {
		p.cmd = exec.Command(command[0], command[1:]...)
		// An empty environment, but not a nil one: exec.Cmd would take that for the node's own.
		p.cmd.Env, p.cmd.Dir = append(childEnv(), slices.Concat(mishapEnv(), env)...), dir
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, p.stderr
		p.cmd.WaitDelay = waitDelay
		if borrower != nil {
			p.cmd.ExtraFiles = []*os.File{borrower}
		}
		detach(p.cmd)
		return p.cmd
	})
	childIn.Close()
	childOut.Close()
	borrower.Close()
	if err != nil {
		p.closeEnds()
		return nil, fmt.Errorf("starting a sandbox process: %w", err)
	}
	go func() {
		_ = p.cmd.Wait() // its error is in the state
		p.state = p.cmd.ProcessState
		close(p.exited)
	}()
	if err := adopt(p.cmd); err != nil {
		p.kill()
		return nil, fmt.Errorf("starting a sandbox process: %w", err)
	}
	return p, nil
}

// kill ends the process and waits for it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
	p.closeEnds()
}

// closeEnds closes this process's ends of what leads to the child.
func (p *process) closeEnds() {
	p.in.Close()
	p.outEnd.Close()
	if p.lender != nil {
		_ = p.lender.close()
	}
}

// firstSize is how much of a child's standard error is kept: a crash report
// says at its beginning what happened.
const firstSize = 2 << 10

// firstWords keeps the first bytes written to it, and says yes to all others.
type firstWords struct {
	mu sync.Mutex
	b  []byte
}

func (t *firstWords) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b[:min(len(b), firstSize-len(t.b))]...)
	return len(b), nil
}

func (t *firstWords) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
