package api

import (
	"os"
	"os/exec"
	"testing"
)

// TestPythonGlobs runs the tests of the Python client that need no node: its patterns of files match what task.MatchFile
// does, in little time.
func TestPythonGlobs(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	cmd := exec.CommandContext(t.Context(), python, "-m", "unittest", "-q", "test_globs")
	cmd.Dir = "../clients/python/tests"
	cmd.Env = append(os.Environ(), "PYTHONPATH=..", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the Python client's patterns: %v\n%s", err, out)
	}
}
