//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"godwit/internal/docs"
)

const (
	patience = 2 * time.Minute // for a block that does not say how long it takes
	slack    = 5               // times as long as a block says: machines differ
	parting  = 20 * time.Second
	pollEach = 20 * time.Millisecond
)

// rules let nodes work although somebody uses the machine.
const rules = "run_if_user_active: true\nrun_if_full_screen: true\nrun_on_batteries: true\nsuspend_cpu_usage: 0\n" +
	"suspend_memory_pressure: 0\nmax_cores_busy: 100%\nmax_memory_busy: 50%\n"

var (
	errTime   = errors.New("it takes too long")
	errOutput = errors.New("it does not print what is shown")
)

// A user follows one document: a copy of the project, a home directory, a shell that
// lasts from block to block, and what runs in other terminals.
type user struct {
	dir, project string
	env          []string
	shell        *exec.Cmd
	stdin        io.WriteCloser
	ended        chan error // the shell's end
	blocks       int
	others       []*exec.Cmd
}

// has says whether a command that a block needs to succeed does; "" is none.
func (u *user) has(ctx context.Context, command string) bool {
	if command == "" {
		return true
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir, cmd.Env = u.project, u.env
	return cmd.Run() == nil
}

// newUser makes a copy of the project's files, and starts a shell in it. Nodes of the
// user's are a private swarm, so that nobody else's work comes in.
func newUser(ctx context.Context, godwit string) (*user, error) {
	dir, err := os.MkdirTemp("", "godwit-docs-")
	if err != nil {
		return nil, err
	}
	u := &user{dir: dir, project: filepath.Join(dir, "godwit"), ended: make(chan error, 1)}
	if err := u.furnish(ctx, godwit); err != nil {
		u.leave()
		return nil, err
	}
	return u, nil
}

func (u *user) furnish(ctx context.Context, godwit string) error {
	home := filepath.Join(u.dir, "home")
	for _, d := range []string{u.project, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	files := map[string]string{
		"config.yaml": rules,
		"swarm.key":   "/key/swarm/psk/1.0.0/\n/base16/\n" + hex.EncodeToString(key) + "\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	copying := exec.CommandContext(ctx, "bash", "-eo", "pipefail", "-c",
		`git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | `+
			`tar cf - -T - | tar xf - -C "$1"; `+
			`cp "$2" "$1/godwit"; cd "$1"; git init -q -b main; git add -A; `+
			`git -c user.name=docs -c user.email=docs@localhost commit -qm copy`, "copy", u.project, godwit)
	if out, err := copying.CombinedOutput(); err != nil {
		return fmt.Errorf("copying the project: %w: %s", err, out)
	}
	u.env = environment(home, u.dir)
	u.shell = exec.Command("bash", "-eo", "pipefail", "-s")
	u.shell.Dir, u.shell.Env, u.shell.SysProcAttr = u.project, u.env, &syscall.SysProcAttr{Setpgid: true}
	stdin, err := u.shell.StdinPipe()
	if err != nil {
		return err
	}
	u.stdin = stdin
	if err := u.shell.Start(); err != nil {
		return err
	}
	go func() { u.ended <- u.shell.Wait() }()
	return nil
}

// environment is the caller's, but for where things are kept. Go's caches stay, and the flags that filled them.
func environment(home, dir string) []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GODWIT_") && !strings.HasPrefix(e, "XDG_") && !strings.HasPrefix(e, "HOME=") {
			env = append(env, e)
		}
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			env = append(env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	return append(env, "HOME="+home, "GODWIT_CONFIG="+filepath.Join(dir, "config.yaml"),
		"GODWIT_SWARM_KEY="+filepath.Join(dir, "swarm.key"), "GODWIT_API=",
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false")
}

// run runs a block and returns what it printed, with an error if that is not what the
// document says.
func (u *user) run(ctx context.Context, b docs.Block) (string, error) {
	u.blocks++
	script := filepath.Join(u.dir, fmt.Sprintf("block-%d.sh", u.blocks))
	if err := os.WriteFile(script, []byte(b.Text), 0o600); err != nil {
		return "", err
	}
	limit := patience
	if b.Marks.Takes > 0 {
		limit = slack * b.Marks.Takes
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTime)
	defer cancel()
	if b.Marks.Own {
		return u.begin(ctx, script, b)
	}
	err := u.source(ctx, script, b.Marks.ExitCode)
	printed := read(script + ".out")
	if err == nil && b.Output != "" && !docs.Match(b.Output, printed) {
		err = errOutput
	}
	return printed, err
}

// source has the shell run a script, and waits for its end. One that is to fail runs in
// a shell of its own.
func (u *user) source(ctx context.Context, script string, code int) error {
	command := fmt.Sprintf(". '%s' </dev/null >'%s.out' 2>&1\n", script, script)
	if code != 0 {
		command = fmt.Sprintf("rc=0; bash -eo pipefail '%s' </dev/null >'%s.out' 2>&1 || rc=$?\n[ $rc = %d ]\n",
			script, script, code)
	}
	if _, err := io.WriteString(u.stdin, command+fmt.Sprintf(": >'%s.end'\n", script)); err != nil {
		return err
	}
	return await(ctx, func() (bool, error) {
		if _, err := os.Stat(script + ".end"); err == nil {
			return true, nil
		}
		select {
		case err := <-u.ended:
			u.ended <- err
			return false, fmt.Errorf("the commands end with another exit code than the text says: %w", errors.Join(err))
		default:
			return false, nil
		}
	})
}

// begin starts a script in the background, and waits until it printed what is shown.
func (u *user) begin(ctx context.Context, script string, b docs.Block) (string, error) {
	out, err := os.Create(script + ".out")
	if err != nil {
		return "", err
	}
	defer out.Close()
	c := exec.Command("bash", "-eo", "pipefail", script)
	c.Dir, c.Env, c.Stdout, c.Stderr = u.project, u.env, out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return "", err
	}
	u.others = append(u.others, c)
	err = await(ctx, func() (bool, error) {
		return b.Output == "" || docs.Match(b.Output, read(script+".out")), nil
	})
	return read(script + ".out"), err
}

// leave ends what the user started, and removes the copy.
func (u *user) leave() {
	if u.stdin != nil {
		u.stdin.Close()
	}
	for _, c := range u.others {
		// The group is ours: it was made for this command.
		syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
		late := time.AfterFunc(parting, func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		c.Wait()
		late.Stop()
	}
	if u.shell != nil && u.shell.Process != nil {
		syscall.Kill(-u.shell.Process.Pid, syscall.SIGKILL)
		<-u.ended
	}
	os.RemoveAll(u.dir)
}

// await asks until done says so, fails, or the time is over.
func await(ctx context.Context, done func() (bool, error)) error {
	tick := time.NewTicker(pollEach)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
