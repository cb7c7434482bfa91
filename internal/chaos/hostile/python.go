package hostile

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// python runs a program of Python with a text as standard input, and returns what it printed.
func python(ctx context.Context, in, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "python3", append([]string{"-c", program}, args...)...)
	var out, wrong strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &wrong
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("python3: %w: %s", err, strings.TrimSpace(wrong.String()))
	}
	return out.String(), nil
}
