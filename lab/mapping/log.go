package mapping

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"godwit/internal/failure"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Log is a file with a line for each task that ended and was printed, in the form of GNU parallel's. nil
// is none.
type Log struct {
	file    *os.File
	printed ledger.Set // inputs with a line, counted from 0
}

const (
	logHeader = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
	logFields = 9
	logExit   = 6 // field of the exit code
)

// OpenLog opens a log: a new one, or with again one that is there, of which the lines are read, but for those
// of failures if they are to run again. Close it.
func OpenLog(path string, again, failures bool) (*Log, error) {
	l := &Log{}
	if again {
		if err := l.read(path, failures); err != nil {
			return nil, err
		}
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if again {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	var err error
	if l.file, err = os.OpenFile(path, mode, 0o666); err != nil {
		return nil, failure.Usage("", "opening the log: %w", err)
	}
	if info, err := l.file.Stat(); err == nil && info.Size() == 0 {
		_, err = l.file.WriteString(logHeader)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("writing the log: %w", err), l.file.Close())
		}
	}
	return l, nil
}

func (l *Log) read(path string, failures bool) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failure.Usage("", "reading the log: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 2*task.MaxCell)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if n == 1 || len(fields) < logFields { // the last may have been cut off
			continue
		}
		seq, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil || seq == 0 {
			return failure.Usage("name another file, or remove this one", "%s is no log of a map: line %d", path, n)
		}
		if !failures || fields[logExit] == "0" {
			l.printed.Add(seq - 1)
		}
	}
	return lines.Err()
}

// write notes that a task was printed.
func (l *Log) write(in input, t *message.TaskSummary) error {
	if l == nil {
		return nil
	}
	host, exit, start, took := "-", 1, 0.0, 0.0
	if len(t.Results) > 0 {
		r := &t.Results[0]
		host, took = string(r.Worker), r.Wall.Seconds()
		if r.Outcome == task.Completed || r.Outcome == task.ExitFailure {
			exit = int(r.ExitCode)
		}
	}
	if n := len(t.Attempts); n > 0 {
		start = float64(t.Attempts[n-1].Start.UnixMilli()) / 1e3
	}
	shown := strings.NewReplacer("\n", " ", "\t", " ", "\r", " ").Replace(in.shown)
	_, err := fmt.Fprintf(l.file, "%d\t%s\t%.3f\t%.3f\t0\t0\t%d\t0\t%s\n", in.seq+1, host, start, took, exit, shown)
	return err
}

// Close closes the file.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
