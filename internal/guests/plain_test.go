//go:build unix

package guests

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	wsys "github.com/tetratelabs/wazero/sys"

	"godwit/sandbox"
	"godwit/task"
)

// programName is what a guest finds as its first argument in the sandbox.
const programName = "task.wasm"

// A guestJob says what to run, for processes that run it without the sandbox.
type guestJob struct {
	Name   string // of the task
	Module string // its file
	Args   []string
	Env    []task.EnvVar
	Files  []sandbox.Input
	Memory int64 // limit in bytes; 0 the default
}

// A plainEnd is how a run on plain wazero ended.
type plainEnd struct {
	CPU     time.Duration
	Stdout  [sha256.Size]byte
	Outputs map[string]string // digests of standard output and of what was written, by name
	Failed  string            // how it ended, if not well
}

// plainVerb makes the test binary a process that runs a module on wazero alone.
const plainVerb = "plain-wazero"

func init() {
	if len(os.Args) > 2 && os.Args[1] == plainVerb {
		var job guestJob
		err := json.Unmarshal([]byte(os.Args[2]), &job)
		if err == nil {
			err = plainMain(job)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// plainRun keeps such a process, as a pool keeps a warm child.
func plainRun(b testing.TB, module string, args []string) func() (time.Duration, [32]byte) {
	run := plainly(b, guestJob{Module: module, Args: args})
	return func() (time.Duration, [32]byte) {
		end := run()
		if end.Failed != "" {
			b.Fatal(end.Failed)
		}
		return end.CPU, end.Stdout
	}
}

// plainly does the same for a guest with a world around it.
func plainly(b testing.TB, job guestJob) func() plainEnd {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	what, err := json.Marshal(job)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self, plainVerb, string(what))
	// as the sandbox's own process, or the two do not see the same machine
	if idle, err := exec.LookPath("chrt"); err == nil {
		cmd = exec.Command(idle, "--idle", "0", self, plainVerb, string(what))
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	answers := json.NewDecoder(out)
	return func() (end plainEnd) {
		if _, err := fmt.Fprintln(in, "run"); err != nil {
			b.Fatal(err)
		}
		if err := answers.Decode(&end); err != nil {
			b.Fatal(err)
		}
		return end
	}
}

// plainMain is that process: for each line that comes it runs the module, from
// a new instance, and answers. Its memory is reserved as a sandbox reserves it: a
// memory that grows by copying would be slower, and not for what is measured here.
func plainMain(job guestJob) error {
	ctx := experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(job.reserve))
	code, err := os.ReadFile(job.Module)
	if err != nil {
		return err
	}
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryCapacityFromMax(true))
	defer rt.Close(ctx)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, rt); err != nil {
		return err
	}
	compiled, err := rt.CompileModule(ctx, code)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		end, err := job.plain(ctx, rt, compiled)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(end); err != nil {
			return err
		}
	}
	return nil
}

// plain is one such run, in a folder of its own.
func (j *guestJob) plain(ctx context.Context, rt wazero.Runtime, compiled wazero.CompiledModule) (end plainEnd,
	err error) {
	dir, err := os.MkdirTemp("", "godwit-plain")
	if err != nil {
		return end, err
	}
	defer os.RemoveAll(dir)
	if err := j.layOut(dir); err != nil {
		return end, err
	}
	var out, words bytes.Buffer
	cfg := wazero.NewModuleConfig().WithName("").WithArgs(append([]string{programName},
		j.Args...)...).WithStdout(&out).WithStderr(&words).
		WithFSConfig(wazero.NewFSConfig().WithDirMount(dir, "/"))
	for _, e := range j.Env {
		cfg = cfg.WithEnv(e.Name, e.Value)
	}
	before := processTime()
	mod, err := rt.InstantiateModule(ctx, compiled, cfg) // calls _start
	end.CPU = processTime() - before
	var exit *wsys.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 0) {
		end.Failed = clipped(err.Error() + " " + words.String())
	}
	if mod != nil {
		mod.Close(ctx)
	}
	end.Stdout = sha256.Sum256(out.Bytes())
	end.Outputs, err = j.written(dir)
	end.Outputs[task.Stdout] = digest(out.Bytes())
	return end, err
}

// layOut puts the inputs into a folder.
func (j *guestJob) layOut(dir string) error {
	for _, f := range j.Files {
		b, err := os.ReadFile(f.Path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, b, 0o444); err != nil {
			return err
		}
	}
	return nil
}

// written gives the digests of the files there that are no inputs.
func (j *guestJob) written(dir string) (map[string]string, error) {
	inputs, found := map[string]bool{}, map[string]string{}
	for _, f := range j.Files {
		inputs[f.Name] = true
	}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if name := filepath.ToSlash(rel); !inputs[name] {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			found[name] = digest(b)
		}
		return nil
	})
	return found, err
}

// digest describes content so that two of them can be compared.
func digest(b []byte) string { return fmt.Sprintf("%d bytes, %x", len(b), sha256.Sum256(b)) }
