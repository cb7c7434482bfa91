package batch

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	maxOutput = 64 << 20 // bytes of one command's output
	maxRows   = 1 << 20  // rows of a queue, or of a list of nodes
	maxNames  = 1 << 16  // expanded names of one host list
	maxRange  = 1 << 20  // largest number in a range of a list of hosts
)

// A row is a job in the output of squeue.
type row struct {
	id, state, reason string
	nodes             int
	cpus              int
	partitions        string // separated by commas
	user              string
	needs             string // list of hosts that the job requires
	on                string // list of hosts that the job holds
	comment           string
	name              string
}

// A host is a pair of node and partition in the output of sinfo.
type host struct {
	name, partition string
	usual           bool // the partition is the default one
	state           string
	cpus            int
}

// rows splits output into lines of want fields, separated by bars. The last field may contain bars.
func rows(output []byte, want int, each func(fields []string) error) error {
	if len(output) > maxOutput {
		return fmt.Errorf("output: %d bytes, want at most %d", len(output), maxOutput)
	}
	number := 0
	for line := range bytes.Lines(output) {
		line = bytes.TrimRight(line, "\r\n")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if number++; number > maxRows {
			return fmt.Errorf("output: more than %d rows", maxRows)
		}
		fields := strings.SplitN(string(line), "|", want)
		if len(fields) < want {
			return fmt.Errorf("row %d: %d fields, want %d", number, len(fields), want)
		}
		if err := each(fields); err != nil {
			return fmt.Errorf("row %d: %w", number, err)
		}
	}
	return nil
}

// queueFormat is the format of squeue that parseQueue reads. The name comes last because it may contain any character.
const queueFormat = "%i|%T|%r|%D|%C|%P|%u|%n|%N|%k|%j"

// parseQueue reads the output of squeue.
func parseQueue(output []byte) (queue []row, err error) {
	err = rows(output, strings.Count(queueFormat, "|")+1, func(f []string) error {
		r := row{id: f[0], state: f[1], reason: f[2], partitions: f[5], user: f[6], needs: f[7], on: f[8], comment: f[9],
			name: f[10]}
		if r.id == "" {
			return fmt.Errorf("no job ID")
		}
		nodes, err := count(f[3])
		if err != nil {
			return fmt.Errorf("number of nodes: %w", err)
		}
		cpus, err := count(f[4])
		if err != nil {
			return fmt.Errorf("number of CPUs: %w", err)
		}
		tasks := arrayTasks(r.id)
		r.nodes, r.cpus = times(nodes, tasks), times(cpus, tasks)
		queue = append(queue, r)
		return nil
	})
	return queue, err
}

// nodesFormat is the format of sinfo that parseNodes reads.
const nodesFormat = "%N|%P|%T|%c"

// parseNodes reads the output of sinfo.
func parseNodes(output []byte) (hosts []host, err error) {
	err = rows(output, strings.Count(nodesFormat, "|")+1, func(f []string) error {
		h := host{name: f[0], state: f[2]}
		if h.name == "" {
			return fmt.Errorf("no node name")
		}
		h.partition, h.usual = strings.CutSuffix(f[1], "*")
		if h.cpus, err = count(f[3]); err != nil {
			return fmt.Errorf("number of CPUs: %w", err)
		}
		hosts = append(hosts, h)
		return nil
	})
	return hosts, err
}

// count reads a number such as 12, or 1.5K as Slurm shortens large ones, or the least of a range such as 2-4.
func count(text string) (int, error) {
	low, _, _ := strings.Cut(strings.TrimSuffix(text, "+"), "-")
	factor := 1.0
	if n := len(low); n > 0 {
		switch low[n-1] {
		case 'K':
			factor, low = 1<<10, low[:n-1]
		case 'M':
			factor, low = 1<<20, low[:n-1]
		}
	}
	value, err := strconv.ParseFloat(low, 64)
	value *= factor
	if err != nil || !(value >= 0 && value <= math.MaxInt32) {
		return 0, fmt.Errorf("%q, want a number", text)
	}
	return int(value), nil
}

func times(a, b int) int { return int(min(int64(a)*int64(b), math.MaxInt32)) }

// arrayTasks returns the number of array tasks in a job ID such as 6_[1-3,7%2].
func arrayTasks(id string) int {
	_, list, ok := strings.Cut(id, "_[")
	if !ok {
		return 1
	}
	list, throttle, _ := strings.Cut(strings.TrimSuffix(list, "]"), "%")
	total := 0
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		high, step, _ := strings.Cut(high, ":")
		n := 1
		if a, b, err := interval(low, high); isRange && err == nil {
			n = b - a + 1
			if every, err := strconv.Atoi(step); err == nil && every > 1 {
				n = (b-a)/every + 1
			}
		}
		total = min(total+n, math.MaxInt32)
	}
	if most, err := strconv.Atoi(throttle); err == nil && most > 0 {
		total = min(total, most) // limit of concurrent tasks
	}
	return max(total, 1)
}

// baseID returns the ID that all tasks of an array have in common.
func baseID(id string) string {
	if i := strings.IndexAny(id, "_+"); i > 0 {
		return id[:i]
	}
	return id
}

// interval reads the ends of a range.
func interval(low, high string) (a, b int, err error) {
	if a, err = strconv.Atoi(low); err != nil {
		return 0, 0, err
	}
	if b, err = strconv.Atoi(high); err != nil {
		return 0, 0, err
	}
	if a < 0 || b < a || b > maxRange {
		return 0, 0, fmt.Errorf("range %s-%s", low, high)
	}
	return a, b, nil
}

// expand returns the names in a list of hosts such as n[1-3,07],login. It supports one bracket a name.
func expand(list string) ([]string, error) {
	var names []string
	for list != "" {
		end := nameEnd(list)
		name := list[:end]
		list = strings.TrimPrefix(list[end:], ",")
		prefix, rest, bracket := strings.Cut(name, "[")
		if !bracket {
			if name != "" {
				names = append(names, name)
			}
			continue
		}
		inside, suffix, closed := strings.Cut(rest, "]")
		if !closed || strings.Contains(suffix, "[") {
			return nil, fmt.Errorf("list of hosts: %q, want one bracket a name", name)
		}
		for part := range strings.SplitSeq(inside, ",") {
			low, high, isRange := strings.Cut(part, "-")
			if !isRange {
				high = low
			}
			a, b, err := interval(low, high)
			if err != nil || len(low) > 9 {
				return nil, fmt.Errorf("list of hosts: %q, want a range", part)
			}
			if b-a >= maxNames-len(names) {
				return nil, fmt.Errorf("list of hosts: more than %d names", maxNames)
			}
			for i := a; i <= b; i++ {
				names = append(names, fmt.Sprintf("%s%0*d%s", prefix, len(low), i, suffix))
			}
		}
	}
	if len(names) > maxNames {
		return nil, fmt.Errorf("list of hosts: more than %d names", maxNames)
	}
	return names, nil
}

// nameEnd returns the end of the first name in a list of hosts: a comma outside brackets.
func nameEnd(list string) int {
	inside := false
	for i := range len(list) {
		switch {
		case list[i] == '[':
			inside = true
		case list[i] == ']':
			inside = false
		case list[i] == ',' && !inside:
			return i
		}
	}
	return len(list)
}
