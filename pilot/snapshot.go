package pilot

// A Snapshot is the state of a cluster at one poll.
type Snapshot struct {
	Nodes   []Node  // idle nodes
	Places  []Place // current placeholders of this pilot
	Waiting []Job   // local jobs that wait for nodes of the pilot's queue, in queue order
}

// A Node is an idle node of the cluster.
type Node struct {
	Name   string
	Usable bool // the pilot's queue contains the node
}

// A Phase is the progress of a placeholder in the batch system.
type Phase uint8

const (
	Pending Phase = iota // no node is allocated yet
	Running              // the placeholder holds a node
	Ending               // the batch system is clearing the node
)

// A Place is a placeholder job.
type Place struct {
	ID    string
	Phase Phase
	Node  string // allocated node, "" while pending
}

// A Job is a local job that waits.
type Job struct {
	ID    string
	Nodes int             // number of nodes that the job waits for, all tasks of an array together
	Reach map[string]bool // nodes of the job's queues, nil if all; jobs may share a map
	Needs []string        // nodes that the job requires by name
}

func (j *Job) reaches(node string) bool { return j.Reach == nil || j.Reach[node] }

// A Plan lists the changes that a Pilot requests after a poll.
type Plan struct {
	Submit int     // number of placeholders to submit
	Why    string  // reason for Submit, or for submitting none although fewer than Most are held
	Orders []Order // placeholders to end
}

// An Order ends one placeholder.
type Order struct {
	ID, Node string // Node is "" for a placeholder that is pending
	How      Yield
	Reason   string
}
