package batch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"godwit/pilot"
)

// placeComment marks placeholders of all pilots. A waiting job with this comment is no local job.
const placeComment = "godwit placeholder"

// Slurm is a cluster that Slurm manages. It needs sbatch, squeue, scancel and sinfo of version 20.02 or later.
type Slurm struct {
	Name      string   // job name of the placeholders; they are found by it when the pilot restarts
	User      string   // login name that the placeholders belong to
	Partition string   // partition for placeholders, "" for the default one
	Account   string   // account to charge, "" for the user's default
	Extra     []string // additional arguments of sbatch
	Script    string   // batch script of a placeholder

	run runner
}

// Snapshot reads the nodes first and then the queue, so a node whose placeholder has just started is in the queue.
func (s *Slurm) Snapshot(ctx context.Context) (*pilot.Snapshot, error) {
	output, err := s.run.command(ctx, "", "sinfo", "--noheader", "--Node", "--format="+nodesFormat)
	if err != nil {
		return nil, err
	}
	hosts, err := parseNodes(output)
	if err != nil {
		return nil, fmt.Errorf("sinfo: %w", err)
	}
	if output, err = s.run.command(ctx, "", "squeue", "--noheader", "--format="+queueFormat); err != nil {
		return nil, err
	}
	queue, err := parseQueue(output)
	if err != nil {
		return nil, fmt.Errorf("squeue: %w", err)
	}
	return s.snapshot(hosts, queue)
}

// Submit submits one placeholder with reduced priority. If a time limit applies, Slurm sends the drain signal one
// minute before the limit.
func (s *Slurm) Submit(ctx context.Context) (string, error) {
	argv := []string{"sbatch", "--parsable", "--job-name=" + s.Name, "--comment=" + placeComment, "--nodes=1",
		"--exclusive", "--no-requeue", "--nice=1000000", "--signal=B:USR1@60", "--output=/dev/null"}
	if s.Partition != "" {
		argv = append(argv, "--partition="+s.Partition)
	}
	if s.Account != "" {
		argv = append(argv, "--account="+s.Account)
	}
	output, err := s.run.command(ctx, s.Script, append(argv, s.Extra...)...)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(string(output)), ";") // the name of the cluster may follow
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", fmt.Errorf("sbatch: job ID %q, want a number", id)
	}
	return id, nil
}

// idsPerCommand bounds the length of a command line.
const idsPerCommand = 500

// End signals the batch scripts of placeholders to drain, or cancels the placeholders.
func (s *Slurm) End(ctx context.Context, how pilot.Yield, ids []string) error {
	for part := range slices.Chunk(ids, idsPerCommand) {
		argv := []string{"scancel", "--quiet"}
		if how == pilot.Graceful {
			argv = append(argv, "--batch", "--signal=USR1")
		}
		if _, err := s.run.command(ctx, "", append(argv, part...)...); err != nil {
			return err
		}
	}
	return nil
}

// partitions are the cluster's partitions with their nodes.
type partitions struct {
	nodes  map[string]map[string]bool // by partition
	usual  string                     // name of the default partition
	cpus   map[string]int             // largest number of CPUs of a node, by partition
	unions map[string]map[string]bool // by list of partitions
}

func partitionsOf(hosts []host) *partitions {
	p := &partitions{nodes: map[string]map[string]bool{}, cpus: map[string]int{}, unions: map[string]map[string]bool{}}
	for i := range hosts {
		h := &hosts[i]
		if p.nodes[h.partition] == nil {
			p.nodes[h.partition] = map[string]bool{}
		}
		p.nodes[h.partition][h.name] = true
		p.cpus[h.partition] = max(p.cpus[h.partition], h.cpus)
		if h.usual {
			p.usual = h.partition
		}
	}
	return p
}

// reach returns the nodes of a list of partitions, and the largest number of CPUs of a node.
func (p *partitions) reach(list string) (nodes map[string]bool, cpus int) {
	for name := range strings.SplitSeq(list, ",") {
		cpus = max(cpus, p.cpus[name])
	}
	if nodes = p.nodes[list]; nodes != nil {
		return nodes, cpus
	}
	if nodes = p.unions[list]; nodes != nil {
		return nodes, cpus
	}
	nodes = map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		for node := range p.nodes[name] {
			nodes[node] = true
		}
	}
	p.unions[list] = nodes
	return nodes, cpus
}

// snapshot converts the output of sinfo and squeue.
func (s *Slurm) snapshot(hosts []host, queue []row) (*pilot.Snapshot, error) {
	parts := partitionsOf(hosts)
	own := s.Partition
	if own == "" {
		own = parts.usual
	}
	usable, _ := parts.reach(own)
	if len(usable) == 0 {
		return nil, fmt.Errorf("partition %q has no nodes", own)
	}
	out := &pilot.Snapshot{Nodes: idle(hosts, usable)}
	waiting := map[string]int{} // index in out.Waiting, by job ID
	meets := map[string]bool{}  // the list of partitions contains usable nodes
	for i := range queue {
		r := &queue[i]
		if r.name == s.Name && r.user == s.User {
			if place, ok := placeOf(r); ok {
				out.Places = append(out.Places, place)
			}
			continue
		}
		if !waits(r) {
			continue
		}
		nodes, cpus := parts.reach(r.partitions)
		if _, known := meets[r.partitions]; !known {
			meets[r.partitions] = intersect(nodes, usable)
		}
		if !meets[r.partitions] {
			continue
		}
		want := r.nodes
		if cpus > 0 {
			want = max(want, (r.cpus+cpus-1)/cpus)
		}
		id := baseID(r.id)
		if at, ok := waiting[id]; ok {
			out.Waiting[at].Nodes = times(out.Waiting[at].Nodes+want, 1)
			continue
		}
		job := pilot.Job{ID: id, Nodes: want, Reach: nodes}
		if needs, err := expand(r.needs); err == nil { // a preference among placeholders, so an error does no harm
			job.Needs = needs
		}
		waiting[id] = len(out.Waiting)
		out.Waiting = append(out.Waiting, job)
	}
	return out, nil
}

func idle(hosts []host, usable map[string]bool) (nodes []pilot.Node) {
	seen := map[string]bool{}
	for i := range hosts {
		// States with a suffix are left out: the node is powered down, reserved or does not respond.
		if h := &hosts[i]; h.state == "idle" && !seen[h.name] {
			seen[h.name] = true
			nodes = append(nodes, pilot.Node{Name: h.name, Usable: usable[h.name]})
		}
	}
	return nodes
}

// placeOf converts a placeholder's row. It reports false if the placeholder has ended.
func placeOf(r *row) (pilot.Place, bool) {
	place := pilot.Place{ID: r.id, Node: r.on}
	switch r.state {
	case "PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT":
		place.Node = ""
	case "RUNNING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING":
		place.Phase = pilot.Running
	case "COMPLETING":
		place.Phase = pilot.Ending
	default:
		return place, false
	}
	return place, true
}

// waits reports whether a job waits for nodes. Other reasons, such as dependencies, limits and start times, do not
// change when a placeholder ends.
func waits(r *row) bool {
	if r.state != "PENDING" || r.comment == placeComment {
		return false
	}
	switch r.reason {
	case "Resources", "Priority", "None":
		return true
	}
	return false
}

func intersect(a, b map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for node := range a {
		if b[node] {
			return true
		}
	}
	return false
}
