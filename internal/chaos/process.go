package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// readyLimit bounds one node's start; it takes a fraction of a second on an
	// idle machine.
	readyLimit = 30 * time.Second
	// stopLimit is how long a node may take to end before it is killed.
	stopLimit = 10 * time.Second
	// logTail is how much of a node's log a message shows, in bytes.
	logTail = 1500
)

// A node is one godwit node: a directory that stays, and a process while it is
// up. Its methods are called by one goroutine.
type node struct {
	index  int
	dir    string   // its data
	log    string   // file with what all its processes said
	launch []string // command that runs a command where the node is; empty: here
	listen string   // multiaddr
	cores  int
	runner string
	binary string
	rules  string   // file
	replay string   // file with a trace that plays the owner; "" is none
	mdns   bool     // it looks for others on the local network
	flags  []string // of the verb up, beside those that every node gets

	peer string // its ID; "" before its first start
	addr string // multiaddr with its ID; "" before its first start
	ask  *asker

	proc *process // nil while it is down
	pid  int      // of its last process
	life int      // how often it was started
}

// A process is a running node.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed once it was waited for
	err   error         // of the wait; valid when ended is closed
}

// start runs the node until it says that it is ready.
func (n *node) start(ctx context.Context, peers []string) error {
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return fmt.Errorf("making a node's directory: %w", err)
	}
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening a node's log: %w", err)
	}
	defer log.Close()
	n.life++
	fmt.Fprintf(log, "---- start %d of node %d\n", n.life, n.index)
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer read.Close()
	line := append(append([]string{}, n.launch...), n.command(peers)...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles, cmd.SysProcAttr = log, log, []*os.File{write}, ownGroup()
	err = cmd.Start()
	write.Close()
	if err != nil {
		return fmt.Errorf("starting node %d: %w", n.index, err)
	}
	n.proc, n.pid = &process{cmd: cmd, ended: make(chan struct{})}, cmd.Process.Pid
	go func(p *process) { p.err = cmd.Wait(); close(p.ended) }(n.proc)
	if err := n.awaitReady(ctx, read); err != nil {
		n.kill()
		return err
	}
	return nil
}

func (n *node) command(peers []string) []string {
	line := []string{n.binary, "up", "--data-dir", n.dir, "--config", n.rules, "--listen", n.listen,
		"--no-mdns=" + fmt.Sprint(!n.mdns), "--api", "", "--ready-fd", "3",
		"--runner", n.runner, "--cores", fmt.Sprint(n.cores)}
	line = append(line, n.flags...)
	if n.replay != "" {
		line = append(line, "--replay", n.replay)
	}
	for _, p := range peers {
		line = append(line, "--peer", p)
	}
	return line
}

func (n *node) awaitReady(ctx context.Context, r *os.File) error {
	var ready struct {
		PeerID string   `json:"peer_id"`
		Addrs  []string `json:"addrs"`
	}
	r.SetReadDeadline(time.Now().Add(readyLimit))
	defer context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Now()) })()
	if err := json.NewDecoder(r).Decode(&ready); err != nil {
		return fmt.Errorf("node %d did not become ready: %w; it said:\n%s", n.index, err, n.said())
	}
	if len(ready.Addrs) == 0 {
		return fmt.Errorf("node %d listens nowhere; it said:\n%s", n.index, n.said())
	}
	n.peer, n.addr = ready.PeerID, ready.Addrs[0]
	return nil
}

// kill is what a power cut does to the node.
func (n *node) kill() {
	if n.proc == nil {
		return
	}
	n.proc.cmd.Process.Kill()
	<-n.proc.ended
	killGroup(n.proc.cmd.Process.Pid)
	n.proc = nil
}

// interrupt asks the node to end, and does not wait for it.
func (n *node) interrupt() {
	if n.proc != nil {
		_ = n.proc.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	}
}

// exited says whether the node's process ended by itself.
func (n *node) exited() bool {
	if n.proc == nil {
		return false
	}
	select {
	case <-n.proc.ended:
		return true
	default:
		return false
	}
}

// stop interrupts the node and waits; a node that does not obey is killed.
func (n *node) stop() error {
	if n.proc == nil {
		return nil
	}
	n.interrupt()
	defer n.kill()
	select {
	case <-n.proc.ended:
		if n.proc.err != nil {
			return fmt.Errorf("node %d did not end cleanly: %w; it said:\n%s", n.index, n.proc.err, n.said())
		}
		return nil
	case <-time.After(stopLimit):
		return fmt.Errorf("node %d did not end within %v of a SIGTERM; it said:\n%s", n.index, stopLimit, n.said())
	}
}

// said returns the end of the node's log.
func (n *node) said() string { return n.saidSince(-logTail) }

// saidSince returns the node's log from a position on; a negative one counts
// from its end.
func (n *node) saidSince(at int64) string {
	f, err := os.Open(n.log)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if at >= 0 {
		_, err = f.Seek(at, io.SeekStart)
	} else if info, e := f.Stat(); e == nil && info.Size() > -at {
		_, err = f.Seek(at, io.SeekEnd)
	}
	b, e := io.ReadAll(f)
	if err = errors.Join(err, e); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}

// logSize is a position for saidSince.
func (n *node) logSize() int64 {
	info, err := os.Stat(n.log)
	if err != nil {
		return 0
	}
	return info.Size()
}

// elsewhere runs one of the binary's verbs as another user would, where no node is.
func (t *trial) elsewhere(ctx context.Context, args ...string) (string, error) {
	home := filepath.Join(t.dir, "elsewhere")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, t.godwit, args...)
	var said, wrong strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = home, &said, &wrong, ownGroup()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s %s", strings.Join(args, " "), err, said.String(), strings.TrimSpace(wrong.String()))
	}
	return strings.TrimSpace(said.String()), nil
}

// verb runs one of the binary's client verbs at the node.
func (n *node) verb(ctx context.Context, args ...string) (string, error) {
	return n.verbIn(ctx, "", args...)
}

// verbIn does so in a directory; "" is this one. What was printed is returned with an error, too.
func (n *node) verbIn(ctx context.Context, dir string, args ...string) (string, error) {
	return n.verbFed(ctx, dir, "", args...)
}

// verbFed is verbIn with a text as standard input.
func (n *node) verbFed(ctx context.Context, dir, text string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, n.binary, append(args, "--data-dir", n.dir)...)
	var said, wrong strings.Builder
	cmd.Stdin = strings.NewReader(text)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = dir, &said, &wrong, ownGroup()
	if err := cmd.Run(); err != nil {
		return strings.TrimSpace(said.String()), fmt.Errorf("%s %s at node %d: %w: %s", filepath.Base(n.binary), args[0],
			n.index, err, strings.TrimSpace(wrong.String()))
	}
	return strings.TrimSpace(said.String()), nil
}
