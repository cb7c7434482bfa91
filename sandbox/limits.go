package sandbox

import (
	"time"

	"godwit/sandbox/wasi"
	"godwit/task"
)

// Limits bound what one task may use. Zero fields take the defaults below.
// Files, FileCount and Output are part of what a task sees, so all replicas of
// a task must run with the same ones.
type Limits struct {
	Memory    int64         // bytes of linear memory, rounded down to pages of 64 KiB; at most MaxMemory
	Files     int64         // bytes of all files that it writes, together
	FileCount int           // files, directories and links that it makes, together
	Output    int64         // bytes of standard output and standard error, together
	Wall      time.Duration // from hand-over to answer, preparation of the module included, pauses not; 0 none
}

// The defaults of Limits, and the largest values they may have.
const (
	DefaultMemory    int64 = 256 << 20 // what the job file assumes too
	DefaultFiles           = task.MaxTaskFiles
	DefaultFileCount       = 4096 // a directory of results, not a database
	DefaultOutput          = task.MaxTaskOutput

	MaxMemory    int64 = 4<<30 - pageSize // one page less than 2^32, so that a size fits 32 bits
	MaxFiles     int64 = 4 << 30
	MaxFileCount       = 1 << 20
	MaxOutput    int64 = 1 << 30
	MaxModule    int64 = 256 << 20 // bytes of a module
	MaxInputs    int64 = 4 << 30   // bytes of all inputs of a task
)

// A result can say no more than a task may write.
var _ [task.MaxOutputBytes - 2*task.SealedSpare - DefaultFiles - DefaultOutput]struct{}
var _ [DefaultFiles + DefaultOutput + 2*task.SealedSpare - task.MaxOutputBytes]struct{}

const pageSize = 64 << 10

// withDefaults returns the limits that are in force.
func (l Limits) withDefaults() Limits {
	l.Memory = bounded(l.Memory, DefaultMemory, MaxMemory) / pageSize * pageSize
	l.Files = bounded(l.Files, DefaultFiles, MaxFiles)
	l.FileCount = int(bounded(int64(l.FileCount), DefaultFileCount, MaxFileCount))
	l.Output = bounded(l.Output, DefaultOutput, MaxOutput)
	l.Wall = max(l.Wall, 0)
	return l
}

func bounded(v, standard, most int64) int64 {
	if v <= 0 {
		return standard
	}
	return min(v, most)
}

func (l Limits) wasi() wasi.Limits {
	return wasi.Limits{Bytes: l.Files, Entries: l.FileCount, Output: l.Output}
}

// fileCopies is how often the content of a task's files may lie in its
// child's memory: a file that grows is copied to a larger place.
const fileCopies = 3
