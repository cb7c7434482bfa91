package scenario

import (
	"github.com/goccy/go-yaml/token"

	"godwit/internal/yamlfile"
	"godwit/task"
)

// MaxFile is the largest scenario file, in bytes.
const MaxFile = 1 << 20

// format is what a scenario file may hold.
var format = yamlfile.Format{
	Subject:   "the file",
	Has:       "scenarios are plain keys and values: they have",
	MaxBytes:  MaxFile,
	MaxTokens: 200_000,
	MaxNested: 6, // a file needs 3
	Size:      task.FormatSize,
	LoneCR:    true,
	Second:    "the file has a second document",
	Long:      "replay long workloads from a log",
	Nested:    "a scenario has at most lists within classes of its workload",
	One:       "write one file for each experiment",
	Empty:     "begin it with a line such as `synth: {kind: deug}`",
}

// A source is a file that is being read.
type source struct {
	name   string
	places map[string]yamlfile.Position // of keys: "hosts.slots", "placement[1]"
}

// errorAt returns an error at a token's place.
func (s *source) errorAt(t *token.Token, hint, format string, args ...any) *task.Error {
	return yamlfile.ErrorAt(s.name, t, hint, format, args...)
}
