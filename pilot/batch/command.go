package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// commandLimit bounds the time of one command. The next poll retries a command that exceeds the
// limit.
const commandLimit = 10 * time.Second

var errTooMuch = errors.New("output too long")

// A bounded is a buffer with a limit.
type bounded struct {
	bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return 0, errTooMuch
	}
	b.left -= len(p)
	return b.Buffer.Write(p)
}

// command runs a command with stdin and returns its output.
func command(ctx context.Context, stdin string, argv ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	// By default squeue cuts long lists of array tasks short.
	cmd.Env = append(os.Environ(), "SLURM_BITSTR_LEN=0", "LC_ALL=C")
	stdout, stderr := &bounded{left: maxOutput}, &bounded{left: 64 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), stdout, stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within %v", commandLimit)
	}
	if err != nil {
		said := strings.TrimSpace(stderr.String())
		if said != "" {
			said = ": " + said
		}
		return nil, fmt.Errorf("%s: %w%s", argv[0], err, said)
	}
	return stdout.Bytes(), nil
}
