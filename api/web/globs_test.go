package web

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// hold prints what globs.js says otherwise than the vectors, and of patterns for which trying all ways would take hours.
const hold = `
import {readFileSync} from 'node:fs'
const {matcher} = await import('data:text/javascript,' + encodeURIComponent(readFileSync(%q, 'utf8')))
const {names, matches} = JSON.parse(readFileSync(%q, 'utf8'))
for (const [pattern, want] of Object.entries(matches)) {
  const is = matcher(pattern), got = names.filter(is)
  if (JSON.stringify(got) !== JSON.stringify(want)) console.log(pattern, 'matches', got, 'and not', want)
}
for (const [pattern, name] of [['**/'.repeat(10) + 'b', 'a/'.repeat(60) + 'a'], ['*a'.repeat(60) + '*b', 'a'.repeat(255)],
  ['**/*a*/'.repeat(8) + 'b', 'aa/'.repeat(60) + 'a']]) {
  if (matcher(pattern)(name)) console.log(pattern, 'matches', name)
}
`

// TestGlobs holds the page's patterns of files to the vectors of task.MatchFile. scripts/face does so in a browser.
func TestGlobs(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node to run JavaScript")
	}
	vectors := filepath.Join("..", "..", "task", "testdata", "globs.json")
	if _, err := os.Stat(vectors); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), node, "--input-type=module", "--eval",
		fmt.Sprintf(hold, "globs.js", vectors)).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("globs.js: %v\n%s", err, out)
	}
}
