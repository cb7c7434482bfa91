package submission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/internal/noop"
	"godwit/sandbox"
)

// Arguments that JSON would change on the way to the node are refused, and the place is named.
func TestArgumentsMustBeUTF8(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noop.wasm")
	if err := os.WriteFile(path, noop.Module, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, []string{"a", "", "b\xffc"}, sandbox.CheckModule); err == nil ||
		!strings.Contains(err.Error(), `argument 3: "b\xffc" is not valid UTF-8`) {
		t.Errorf("got %v", err)
	}
	j, err := Read(path, []string{"a", "", "ä\ufffd", "x=y"}, sandbox.CheckModule)
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
}
