package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestClockOfAnother runs this test's own binary as a process that tells the time
// when it is asked, and moves its clock, which moves nothing else.
func TestClockOfAnother(t *testing.T) {
	if os.Getenv("CHAOS_TELL_TIME") != "" {
		begun := time.Now()
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			fmt.Println(time.Now().Unix(), int64(time.Since(begun)/time.Second))
		}
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestClockOfAnother$")
	cmd.Env = append(os.Environ(), "CHAOS_TELL_TIME=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	lines := bufio.NewReader(out)
	ask := func() (ahead, since int64) {
		fmt.Fprintln(in)
		var at int64
		if _, err := fmt.Fscanln(lines, &at, &since); err != nil {
			t.Fatal(err)
		}
		return at - time.Now().Unix(), since
	}
	ask()
	c, err := divert(cmd.Process.Pid)
	if err != nil {
		t.Skipf("another process's clock cannot be moved here: %v", err)
	}
	for _, want := range []time.Duration{0, time.Hour, -time.Hour, 0} {
		if err := c.set(want); err != nil {
			t.Fatal(err)
		}
		ahead, since := ask()
		// A second begins between the two readings, at times.
		if off := ahead - int64(want/time.Second); off < -1 || off > 1 {
			t.Errorf("set to %v it is %d s ahead", want, ahead)
		}
		if since < 0 || since > 60 {
			t.Errorf("set to %v, %d s have gone by since it began", want, since)
		}
	}
}
