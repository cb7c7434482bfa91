package batch

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"godwit/pilot"
)

// placePrefix begins the names of all placeholders in batch systems whose lists show no comment. A waiting job with
// such a name is no local job.
const placePrefix = "godwit-"

// SGE is a cluster that Grid Engine manages. It needs qsub, qstat, qconf, qmod and qdel of Grid Engine 6.2 or a
// successor.
type SGE struct {
	Name    string   // job name of the placeholders, which begins with "godwit-"; they are found by it after a restart
	User    string   // login name that the placeholders belong to
	Queue   string   // cluster queue for placeholders, "" for any
	Account string   // account string, "" for none
	Extra   []string // additional arguments of qsub
	Script  string   // job script of a placeholder

	rules map[string]string // allocation rules, by parallel environment
	run   runner
}

// A runner replaces the commands of a batch system in tests.
type runner func(ctx context.Context, stdin string, argv ...string) ([]byte, error)

func (r runner) command(ctx context.Context, stdin string, argv ...string) ([]byte, error) {
	if r != nil {
		return r(ctx, stdin, argv...)
	}
	return command(ctx, stdin, argv...)
}

// Snapshot reads queues and jobs with one command. If jobs wait, a second command lists those that are held or have a
// start time, because the first list shows no start times.
func (s *SGE) Snapshot(ctx context.Context) (*pilot.Snapshot, error) {
	list, err := s.list(ctx, "-f", "-r")
	if err != nil {
		return nil, err
	}
	held := map[string]bool{}
	if slices.ContainsFunc(list.pending, s.maybeWaits) {
		later, err := s.list(ctx, "-s", "h")
		if err != nil {
			return nil, err
		}
		for i := range later.pending {
			held[later.pending[i].id] = true
		}
	}
	if err := s.readRules(ctx, list.pending); err != nil {
		return nil, err
	}
	return s.snapshot(list, held)
}

func (s *SGE) list(ctx context.Context, options ...string) (*sgeList, error) {
	argv := append([]string{"qstat", "-xml", "-u", "*"}, options...)
	output, err := s.run.command(ctx, "", argv...)
	if err != nil {
		return nil, err
	}
	list, err := parseSGE(output)
	if err != nil {
		return nil, fmt.Errorf("qstat: %w", err)
	}
	return list, nil
}

// Submit submits one placeholder at the lowest priority. With -notify Grid Engine sends signals before it suspends or
// kills the placeholder.
func (s *SGE) Submit(ctx context.Context) (string, error) {
	argv := []string{"qsub", "-terse", "-N", s.Name, "-p", "-1023", "-r", "n", "-notify", "-S", "/bin/sh",
		"-o", "/dev/null", "-e", "/dev/null"}
	if s.Queue != "" {
		argv = append(argv, "-q", s.Queue)
	}
	if s.Account != "" {
		argv = append(argv, "-A", s.Account)
	}
	output, err := s.run.command(ctx, s.Script, append(argv, s.Extra...)...)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(output))
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", fmt.Errorf("qsub: job ID %q, want a number", id)
	}
	return id, nil
}

// End suspends placeholders, or deletes them. A user has no other way to signal a job, and the notification before a
// suspension makes the script drain its node and end long before the suspension.
func (s *SGE) End(ctx context.Context, how pilot.Yield, ids []string) error {
	verb := []string{"qdel"}
	if how == pilot.Graceful {
		verb = []string{"qmod", "-sj"}
	}
	for part := range slices.Chunk(ids, idsPerCommand) {
		if _, err := s.run.command(ctx, "", append(slices.Clone(verb), part...)...); err != nil {
			return err
		}
	}
	return nil
}

// mostRules bounds the number of parallel environments whose rules are kept.
const mostRules = 1000

// environmentName matches names of parallel environments that are no patterns.
var environmentName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// readRules reads the allocation rules of the parallel environments of waiting jobs. Environments that do not exist
// have the rule "".
func (s *SGE) readRules(ctx context.Context, pending []sgeJob) error {
	for i := range pending {
		j := &pending[i]
		if _, known := s.rules[j.environment]; known || !s.maybeWaits(*j) || !environmentName.MatchString(j.environment) {
			continue
		}
		output, err := s.run.command(ctx, "", "qconf", "-sp", j.environment)
		if ctx.Err() != nil {
			return err
		}
		rule := ""
		if err == nil {
			rule = allocationRule(output)
		}
		if s.rules == nil || len(s.rules) >= mostRules {
			s.rules = map[string]string{}
		}
		s.rules[j.environment] = rule
	}
	return nil
}

// maybeWaits reports whether a job is local and waits, unless it has a start time in the future.
func (s *SGE) maybeWaits(j sgeJob) bool {
	return strings.Contains(j.state, "qw") && !strings.ContainsAny(j.state, "hE") &&
		!strings.HasPrefix(j.name, placePrefix)
}

// snapshot converts a list. held are the IDs of pending jobs that are held or have a start time.
func (s *SGE) snapshot(list *sgeList, held map[string]bool) (*pilot.Snapshot, error) {
	usable, all := map[string]bool{}, map[string]bool{}
	out := &pilot.Snapshot{}
	known := map[string]bool{} // placeholders
	place := func(j *sgeJob, phase pilot.Phase, host string) {
		if j.name == s.Name && j.owner == s.User && !known[j.id] {
			known[j.id] = true
			out.Places = append(out.Places, pilot.Place{ID: j.id, Phase: phase, Node: host})
		}
	}
	for i := range list.instances {
		in := &list.instances[i]
		all[in.host] = true
		if s.Queue == "" || in.queue == s.Queue {
			usable[in.host] = true
		}
		for k := range in.jobs {
			phase := pilot.Running
			if strings.Contains(in.jobs[k].state, "d") {
				phase = pilot.Ending
			}
			place(&in.jobs[k], phase, in.host)
		}
	}
	if len(usable) == 0 {
		return nil, fmt.Errorf("queue %q has no hosts", s.Queue)
	}
	out.Nodes = idleHosts(list.instances, usable)
	for i := range list.pending {
		j := &list.pending[i]
		place(j, pilot.Pending, "")
		if !s.maybeWaits(*j) || held[j.id] {
			continue
		}
		if job := s.waiting(j, list.instances); intersect(job.Reach, usable) {
			out.Waiting = append(out.Waiting, job)
		}
	}
	return out, nil
}

// waiting converts a local job that waits. Its tasks are counted together.
func (s *SGE) waiting(j *sgeJob, instances []instance) pilot.Job {
	job := pilot.Job{ID: j.id, Reach: map[string]bool{}}
	slots := 1 // of a host, at most
	for i := range instances {
		if in := &instances[i]; j.reaches(in) {
			job.Reach[in.host] = true
			slots = max(slots, in.total)
		}
	}
	if j.hosts != "" && len(job.Reach) == 1 {
		for host := range job.Reach {
			job.Needs = []string{host}
		}
	}
	tasks := 1
	if j.tasks != "" {
		tasks = arrayTasks("_[" + j.tasks + "]")
	}
	job.Nodes = times(nodesOf(s.rules[j.environment], max(1, j.slots), slots, max(1, len(job.Reach))), tasks)
	return job
}

// nodesOf returns the number of hosts that a job needs for its slots by an allocation rule. Hosts have perHost slots.
func nodesOf(rule string, slots, perHost, hosts int) int {
	switch rule {
	case "$pe_slots":
		return 1
	case "$round_robin":
		return min(slots, hosts)
	}
	if n, err := strconv.Atoi(rule); err == nil && n > 0 {
		perHost = n
	}
	return (slots-1)/perHost + 1
}

// idleHosts returns the hosts on which no slot is in use. A state means that a queue accepts no jobs, for example
// because it is disabled, unreachable or overloaded.
func idleHosts(instances []instance, usable map[string]bool) (nodes []pilot.Node) {
	busy, open := map[string]bool{}, map[string]bool{}
	for i := range instances {
		in := &instances[i]
		if in.used > 0 || in.state != "" {
			busy[in.host] = true
		}
	}
	for i := range instances {
		if host := instances[i].host; !busy[host] && !open[host] {
			open[host] = true
			nodes = append(nodes, pilot.Node{Name: host, Usable: usable[host]})
		}
	}
	return nodes
}
