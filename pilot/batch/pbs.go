package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"godwit/pilot"
)

// PBS is a cluster that OpenPBS or Torque manages. It needs qsub, qstat, pbsnodes, qsig and qdel.
type PBS struct {
	Name      string   // job name of the placeholders, which begins with "godwit-"; they are found by it after a restart
	User      string   // login name that the placeholders belong to
	Queue     string   // queue for placeholders, "" for the default one
	Account   string   // account to charge, "" for the user's default
	Resources []string // resources of a placeholder, an argument -l of qsub each
	Extra     []string // additional arguments of qsub
	Script    string   // job script of a placeholder

	run runner
}

// unknownJob is the exit code of qstat for a job that does not exist: the low byte of PBSE_UNKJOBID (15001). Some qstat
// use it for an empty list.
const unknownJob = 15001 & 0xff

// Snapshot reads the nodes first and then the queue, so a node whose placeholder has just started is in the queue.
func (s *PBS) Snapshot(ctx context.Context) (*pilot.Snapshot, error) {
	output, err := s.run.command(ctx, "", "pbsnodes", "-a")
	if err != nil {
		return nil, err
	}
	nodes, err := parsePBSNodes(output)
	if err != nil {
		return nil, fmt.Errorf("pbsnodes: %w", err)
	}
	output, err = s.run.command(ctx, "", "qstat", "-f")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == unknownJob {
		output, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	jobs, err := parsePBSJobs(output)
	if err != nil {
		return nil, fmt.Errorf("qstat: %w", err)
	}
	return s.snapshot(nodes, jobs)
}

// placeID matches IDs of placeholders, such as 12.server.
var placeID = regexp.MustCompile(`^[0-9]+(\.[A-Za-z0-9._-]+)?$`)

// Submit submits one placeholder at the lowest priority. The script is a file, because not every qsub reads its input.
func (s *PBS) Submit(ctx context.Context) (id string, err error) {
	file, err := os.CreateTemp("", "godwit-pilot-*.sh")
	if err != nil {
		return "", fmt.Errorf("writing the job script: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.WriteString(s.Script)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("writing the job script: %w", err)
	}
	argv := []string{"qsub", "-N", s.Name, "-p", "-1024", "-r", "n", "-j", "oe", "-o", "/dev/null", "-S", "/bin/sh"}
	for _, r := range s.Resources {
		argv = append(argv, "-l", r)
	}
	if s.Queue != "" {
		argv = append(argv, "-q", s.Queue)
	}
	if s.Account != "" {
		argv = append(argv, "-A", s.Account)
	}
	output, err := s.run.command(ctx, "", append(append(argv, s.Extra...), file.Name())...)
	if err != nil {
		return "", err
	}
	if id = strings.TrimSpace(string(output)); !placeID.MatchString(id) {
		return "", fmt.Errorf("qsub: job ID %q, want NUMBER.SERVER", id)
	}
	return id, nil
}

// End signals placeholders to drain, or deletes them.
func (s *PBS) End(ctx context.Context, how pilot.Yield, ids []string) error {
	verb := []string{"qdel"}
	if how == pilot.Graceful {
		verb = []string{"qsig", "-s", "SIGUSR1"}
	}
	for part := range slices.Chunk(ids, idsPerCommand) {
		if _, err := s.run.command(ctx, "", append(slices.Clone(verb), part...)...); err != nil {
			return err
		}
	}
	return nil
}

// snapshot converts the output of pbsnodes and qstat.
func (s *PBS) snapshot(nodes []pbsNode, jobs []pbsJob) (*pilot.Snapshot, error) {
	usable := reachOf(nodes, s.Queue)
	if len(usable) == 0 {
		return nil, fmt.Errorf("queue %q has no nodes", s.Queue)
	}
	out := &pilot.Snapshot{}
	for i := range nodes {
		if n := &nodes[i]; n.idle {
			out.Nodes = append(out.Nodes, pilot.Node{Name: n.name, Usable: usable[n.name]})
		}
	}
	reach := map[string]map[string]bool{s.Queue: usable} // by queue
	twice := repeated(jobs)
	for i := range jobs {
		j := &jobs[i]
		if j.name == s.Name && j.owner == s.User {
			if place, ok := j.place(); ok && !twice[j.id] {
				out.Places = append(out.Places, place)
			}
			continue
		}
		if !j.waits() {
			continue
		}
		if _, known := reach[j.queue]; !known {
			reach[j.queue] = reachOf(nodes, j.queue)
		}
		if intersect(reach[j.queue], usable) {
			out.Waiting = append(out.Waiting, j.waiting(nodes, reach[j.queue]))
		}
	}
	return out, nil
}

// reachOf returns the nodes of a queue: those that belong to the queue, or else those that belong to none.
func reachOf(nodes []pbsNode, queue string) map[string]bool {
	own, shared := map[string]bool{}, map[string]bool{}
	for i := range nodes {
		switch n := &nodes[i]; n.queue {
		case "":
			shared[n.name] = true
		case queue:
			own[n.name] = true
		}
	}
	if len(own) > 0 {
		return own
	}
	return shared
}

// repeated returns the IDs that more than one job has. The values of a job's variables may contain lines that look like
// another job, so such an ID is not trusted.
func repeated(jobs []pbsJob) map[string]bool {
	seen, twice := map[string]bool{}, map[string]bool{}
	for i := range jobs {
		id := jobs[i].id
		twice[id] = seen[id]
		seen[id] = true
	}
	return twice
}

// place converts a placeholder. It reports false if the placeholder has ended.
func (j *pbsJob) place() (pilot.Place, bool) {
	place := pilot.Place{ID: j.id}
	switch j.state {
	case "Q", "H", "W", "T": // queued, held, waiting, in transit to a server
	case "R", "S", "U": // running, suspended
		place.Phase = pilot.Running
	case "E":
		place.Phase = pilot.Ending
	default:
		return place, false
	}
	if place.Phase != pilot.Pending {
		place.Node = j.on
	}
	return place, placeID.MatchString(j.id)
}

// waits reports whether a local job waits for nodes. Held jobs and jobs with a start time have states of their own. The
// comments are those of OpenPBS's scheduler.
func (j *pbsJob) waits() bool {
	if strings.HasPrefix(j.name, placePrefix) || j.tasks == 0 {
		return false
	}
	for _, other := range []string{"Can Never Run", "limit"} {
		if strings.Contains(j.comment, other) {
			return false
		}
	}
	return j.state == "Q" || j.state == "B" // an array of which some tasks run is in state B
}

// waiting converts a local job that waits. Its tasks are counted together.
func (j *pbsJob) waiting(nodes []pbsNode, reach map[string]bool) pilot.Job {
	job := pilot.Job{ID: j.id, Reach: reach}
	most := 0 // CPUs of a node
	for i := range nodes {
		if n := &nodes[i]; reach[n.name] {
			most = max(most, n.cpus)
			if slices.Contains(j.hosts, n.name) {
				job.Needs = append(job.Needs, n.name)
			}
		}
	}
	want := max(1, j.nodes, len(job.Needs))
	if most > 0 {
		want = max(want, (j.cpus+most-1)/most)
	}
	job.Nodes = times(want, j.tasks)
	return job
}
