package batch

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A pbsNode is a node in the output of pbsnodes.
type pbsNode struct {
	name  string
	queue string // queue that the node belongs to, "" if none
	idle  bool
	cpus  int // 0 unknown
}

// A pbsJob is a job in the output of qstat.
type pbsJob struct {
	id, name, owner, state, queue, comment string
	on                                     string   // first node that the job holds
	nodes, cpus                            int      // that the job requires
	hosts                                  []string // nodes that the job may require by name
	tasks                                  int      // array tasks that wait; 1 for a job without tasks
}

// attribute matches the lines of attributes. Values are continued on further lines, which do not match or have names
// that nothing looks at.
var attribute = regexp.MustCompile(`^[ \t]+([A-Za-z_][A-Za-z0-9_.]*) = (.*)$`)

// records splits output into records and calls add for each of them, with its name and its attributes. begin returns
// the name of the record that a line begins. Other lines that are no attributes are skipped.
func records(output []byte, begin func(line string) (name string, ok bool),
	add func(name string, is map[string]string) error) error {
	if len(output) > maxOutput {
		return fmt.Errorf("output: %d bytes, want at most %d", len(output), maxOutput)
	}
	name, is, number := "", map[string]string{}, 0
	flush := func() error {
		if name == "" {
			return nil
		}
		if number++; number > maxRows {
			return fmt.Errorf("output: more than %d records", maxRows)
		}
		if err := add(name, is); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	for line := range bytes.Lines(output) {
		text := strings.TrimRight(string(line), "\r\n")
		if next, ok := begin(text); ok {
			if err := flush(); err != nil {
				return err
			}
			name, is = next, map[string]string{}
			continue
		}
		if m := attribute.FindStringSubmatch(text); m != nil {
			if _, twice := is[m[1]]; !twice {
				is[m[1]] = strings.TrimSpace(m[2])
			}
		}
	}
	return flush()
}

// parsePBSNodes reads the output of pbsnodes -a.
func parsePBSNodes(output []byte) (nodes []pbsNode, err error) {
	err = records(output, func(line string) (string, bool) {
		return line, line != "" && !strings.ContainsAny(line, " \t")
	}, func(name string, is map[string]string) error {
		n := pbsNode{name: name, queue: is["queue"]}
		n.idle = is["state"] == "free" && is["jobs"] == "" && numberOr(is["resources_assigned.ncpus"], 0) == 0
		for _, key := range []string{"np", "resources_available.ncpus", "pcpus"} {
			n.cpus = max(n.cpus, numberOr(is[key], 0))
		}
		nodes = append(nodes, n)
		return nil
	})
	return nodes, err
}

// parsePBSJobs reads the output of qstat -f.
func parsePBSJobs(output []byte) (jobs []pbsJob, err error) {
	stateless := 0
	err = records(output, func(line string) (string, bool) {
		id, ok := strings.CutPrefix(line, "Job Id:")
		return strings.TrimSpace(id), ok
	}, func(id string, is map[string]string) error {
		j := pbsJob{id: id, name: is["Job_Name"], state: is["job_state"], queue: is["queue"], comment: is["comment"],
			tasks: 1}
		if j.state == "" { // also a value of a job that looks like another job
			stateless++
			return nil
		}
		j.owner, _, _ = strings.Cut(is["Job_Owner"], "@")
		j.on = firstHost(is["exec_host"])
		j.nodes, j.cpus = numberOr(is["Resource_List.nodect"], 1), numberOr(is["Resource_List.ncpus"], 0)
		j.hosts = append(namedHosts(is["Resource_List.nodes"]), namedHosts(is["Resource_List.select"])...)
		if counts, ok := is["array_state_count"]; ok {
			j.tasks = queuedTasks(counts)
		}
		jobs = append(jobs, j)
		return nil
	})
	if err == nil && len(jobs) == 0 && stateless > 0 {
		err = fmt.Errorf("output: %d jobs without job_state", stateless)
	}
	return jobs, err
}

// numberOr reads a number that is not negative. It returns other if there is none.
func numberOr(text string, other int) int {
	if n, err := count(text); err == nil {
		return n
	}
	return other
}

// firstHost returns the first host of a list such as n1/0*4+n2/0, or n1/0-3.
func firstHost(list string) string {
	first, _, _ := strings.Cut(list, "+")
	host, _, _ := strings.Cut(first, "/")
	return host
}

// namedHosts returns the words of a request such as n1:ppn=2+n3 or 1:ncpus=2:host=n1 that may be names of nodes.
func namedHosts(request string) (hosts []string) {
	for chunk := range strings.SplitSeq(request, "+") {
		first, rest, _ := strings.Cut(chunk, ":")
		if _, err := strconv.Atoi(first); err != nil && first != "" {
			hosts = append(hosts, first)
		}
		for part := range strings.SplitSeq(rest, ":") {
			key, value, _ := strings.Cut(part, "=")
			if value != "" && (key == "host" || key == "vnode") {
				hosts = append(hosts, value)
			}
		}
		if len(hosts) >= maxNames {
			return hosts
		}
	}
	return hosts
}

// queuedTasks reads the number of waiting array tasks from a text such as "Queued:3 Running:1".
func queuedTasks(counts string) int {
	for word := range strings.FieldsSeq(counts) {
		if n, ok := strings.CutPrefix(word, "Queued:"); ok {
			return numberOr(n, 0)
		}
	}
	return 0
}
