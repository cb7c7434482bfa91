package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"godwit/lab/plot"
	"godwit/owner"
	"godwit/sandbox"
)

// TestMain lets the test binary be the program itself, for scripts and for the
// nodes and sandboxes that it starts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"godwit": func() {
			if len(os.Args) == 2 && os.Args[1] == sandboxVerb {
				os.Exit(sandbox.Main(os.Stdin, os.Stdout))
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			endLate()
			os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs the program as a stranger meets it: see testdata.
func TestScripts(t *testing.T) {
	takeInterrupts()
	patience := patienceOf(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Condition: func(name string) (bool, error) {
			switch name {
			case "draws":
				return plot.Able() == nil, nil
			case "parallel":
				_, err := exec.LookPath("parallel")
				return err == nil, nil
			case "venv":
				return exec.Command("python3", "-c", "import ensurepip").Run() == nil, nil
			}
			return false, fmt.Errorf("no condition is called %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
			env.Setenv("HOME", env.WorkDir)
			project, err := filepath.Abs(filepath.Join("..", ".."))
			if err != nil {
				return err
			}
			env.Setenv("PROJECT", project)
			// Whoever runs the tests may type meanwhile, or have other programs compute.
			rules, everything := filepath.Join(env.WorkDir, "everything.yaml"), owner.Everything()
			everything.NoPriorityChange = true
			if err := os.WriteFile(rules, []byte(everything.Text()), 0o600); err != nil {
				return err
			}
			env.Setenv("GODWIT_CONFIG", rules)
			env.Setenv(patienceEnv, patience.String())
			// Guests are built with the toolchain's own caches, and the flags that scripts/docs builds them with.
			for _, name := range []string{"GOCACHE", "GOFLAGS", "GOMODCACHE", "GOPATH"} {
				env.Setenv(name, goEnv(name))
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"module": writeModule,
			"await": func(ts *testscript.TestScript, neg bool, args []string) {
				await(ts, neg, args, patience)
			},
			"same": sameFields,
		},
	})
}

// patienceEnv names the environment variable with the time that a program of a
// script can run.
const patienceEnv = "GODWIT_SCRIPT_PATIENCE"

// patienceOf returns how long a program of a script can run, and how long a
// script waits for a file: three quarters of the time that is left for all
// tests, so that a busy machine fails no script, and what never ends is shown.
func patienceOf(t *testing.T) time.Duration {
	end, limited := t.Deadline()
	if !limited {
		return time.Hour
	}
	return time.Until(end) / 4 * 3
}

// endLate ends a program of a script that has run for too long, and shows where
// its goroutines are.
func endLate() {
	patience, err := time.ParseDuration(os.Getenv(patienceEnv))
	if err != nil {
		return // a script started it without its environment
	}
	time.AfterFunc(patience, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("%q did not end within %v", os.Args, patience))
	})
}

// takeInterrupts lets the shells of scripts be interrupted. A shell ignores
// interrupts if its parent did, and whoever starts the tests in the background
// ignores them. A script that failed would then wait for its nodes for ever.
func takeInterrupts() {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	go func() {
		<-interrupted
		os.Exit(130) // as a shell says it
	}()
}

// await waits until a file is there and not empty, for at most patience: `await FILE`. The wait is
// on the file system's word, polled, since the writer is another process.
func await(ts *testscript.TestScript, neg bool, args []string, patience time.Duration) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	path := ts.MkAbs(args[0])
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); time.Since(begun) < patience; <-tick.C {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
	}
	ts.Fatalf("%s did not appear in %v", args[0], patience)
}
