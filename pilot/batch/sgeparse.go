package batch

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strings"
)

// An sgeList is the output of qstat -xml.
type sgeList struct {
	instances []instance
	pending   []sgeJob
}

// An instance is a queue on a host.
type instance struct {
	queue, host string
	used, total int // slots
	state       string
	jobs        []sgeJob
}

// An sgeJob is a job, or some tasks of an array job.
type sgeJob struct {
	id, name, owner, state string
	slots                  int
	tasks                  string   // list of array tasks, "" for a job without tasks
	environment            string   // parallel environment
	queues                 []string // patterns of the queues that the job requires
	hosts                  string   // pattern of the hosts that the job requires
}

type queueXML struct {
	Name  string   `xml:"name"`
	Used  string   `xml:"slots_used"`
	Total string   `xml:"slots_total"`
	State string   `xml:"state"`
	Jobs  []jobXML `xml:"job_list"`
}

type jobXML struct {
	ID          string    `xml:"JB_job_number"`
	Name        string    `xml:"JB_name"`
	FullName    string    `xml:"full_job_name"`
	Owner       string    `xml:"JB_owner"`
	State       string    `xml:"state"`
	Slots       string    `xml:"slots"`
	Tasks       string    `xml:"tasks"`
	Environment nameXML   `xml:"requested_pe"`
	Queues      []string  `xml:"hard_req_queue"`
	Requests    []nameXML `xml:"hard_request"`
}

type nameXML struct {
	Name  string `xml:"name,attr"`
	Value string `xml:",chardata"`
}

// parseSGE reads the output of qstat -xml, with or without queues.
func parseSGE(output []byte) (*sgeList, error) {
	if len(output) > maxOutput {
		return nil, fmt.Errorf("output: %d bytes, want at most %d", len(output), maxOutput)
	}
	d := xml.NewDecoder(bytes.NewReader(legible(output)))
	d.Strict = false // names of jobs may contain any character
	list, rows, whole := &sgeList{}, 0, false
	for {
		token, err := d.Token()
		switch {
		case err == io.EOF && whole:
			return list, nil
		case err == io.EOF:
			return nil, fmt.Errorf("output: no job_info element")
		case err != nil:
			return nil, fmt.Errorf("output: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "job_info":
			whole = true
		case "Queue-List":
			var q queueXML
			if err = d.DecodeElement(&q, &start); err == nil {
				rows += 1 + len(q.Jobs)
				err = list.addQueue(&q)
			}
		case "job_list":
			var j jobXML
			if err = d.DecodeElement(&j, &start); err == nil {
				rows++
				err = list.addPending(&j)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line(d), err)
		}
		if rows > maxRows {
			return nil, fmt.Errorf("output: more than %d rows", maxRows)
		}
	}
}

func line(d *xml.Decoder) int {
	n, _ := d.InputPos()
	return n
}

// legible replaces bytes that XML does not allow. A job's name may contain them.
func legible(output []byte) []byte {
	output = bytes.ToValidUTF8(output, []byte("?"))
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == '\ufffe' || r == '\uffff' {
			return '?'
		}
		return r
	}, output)
}

func (l *sgeList) addQueue(q *queueXML) (err error) {
	in := instance{state: strings.TrimSpace(q.State)}
	var ok bool
	if in.queue, in.host, ok = strings.Cut(strings.TrimSpace(q.Name), "@"); !ok || in.host == "" {
		return fmt.Errorf("queue %q, want QUEUE@HOST", q.Name)
	}
	if in.used, err = count(strings.TrimSpace(q.Used)); err != nil {
		return fmt.Errorf("used slots: %w", err)
	}
	if in.total, err = count(strings.TrimSpace(q.Total)); err != nil {
		return fmt.Errorf("slots: %w", err)
	}
	for i := range q.Jobs {
		j, err := q.Jobs[i].job()
		if err != nil {
			return err
		}
		in.jobs = append(in.jobs, j)
	}
	l.instances = append(l.instances, in)
	return nil
}

func (l *sgeList) addPending(j *jobXML) error {
	job, err := j.job()
	if err == nil {
		l.pending = append(l.pending, job)
	}
	return err
}

func (j *jobXML) job() (out sgeJob, err error) {
	out = sgeJob{id: strings.TrimSpace(j.ID), name: j.FullName, owner: strings.TrimSpace(j.Owner),
		state: strings.TrimSpace(j.State), tasks: strings.TrimSpace(j.Tasks), environment: j.Environment.Name}
	if out.name == "" { // without -r
		out.name = j.Name
	}
	if n, err := count(out.id); err != nil || n == 0 || strings.ContainsAny(out.id, "KM.+-") {
		return out, fmt.Errorf("job ID %q, want a number", j.ID)
	}
	if out.slots, err = count(strings.TrimSpace(j.Slots)); err != nil {
		return out, fmt.Errorf("slots of job %s: %w", out.id, err)
	}
	for _, q := range j.Queues {
		out.queues = append(out.queues, strings.Split(strings.TrimSpace(q), ",")...)
	}
	for _, r := range j.Requests {
		if r.Name == "hostname" {
			out.hosts = strings.TrimSpace(r.Value)
		}
	}
	return out, nil
}

// reaches reports whether the job may run in a queue on a host, as far as its requests for queues and hosts tell.
func (j *sgeJob) reaches(in *instance) bool {
	if j.hosts != "" && !matchesHost(j.hosts, in.host) {
		return false
	}
	if len(j.queues) == 0 {
		return true
	}
	for _, pattern := range j.queues {
		queue, host, domain := strings.Cut(pattern, "@")
		if matches(queue, in.queue) && (!domain || matchesHost(host, in.host)) {
			return true
		}
	}
	return false
}

// matchesHost reports whether a host matches a pattern with or without its domain.
func matchesHost(pattern, host string) bool {
	short, _, _ := strings.Cut(host, ".")
	return matches(pattern, host) || matches(pattern, short)
}

// matches reports whether a name matches a pattern of Grid Engine: alternatives separated by bars, with wildcards. It
// reports true for operators and host groups, because a job that reaches too many hosts only takes more nodes back.
func matches(pattern, name string) bool {
	if strings.ContainsAny(pattern, "!&()@") {
		return true
	}
	for part := range strings.SplitSeq(pattern, "|") {
		if ok, err := path.Match(part, name); ok || err != nil {
			return true
		}
	}
	return false
}

// allocationRule returns the rule in the output of qconf -sp, "" if there is none.
func allocationRule(output []byte) string {
	for line := range bytes.Lines(output) {
		if f := strings.Fields(string(line)); len(f) == 2 && f[0] == "allocation_rule" {
			return f[1]
		}
	}
	return ""
}
