package message

// Reasons of Ack.Drop that mean something to a worker. Any other reason ends
// a lease whether it runs or not; DropRecall only takes back one that has not
// started.
const (
	DropRecall     = "recalled: another member is idle"
	DropSuperseded = "superseded: the task is being run, or has ended, elsewhere"
	DropCancelled  = "the job was cancelled"
	DropExpired    = "the job's deadline passed"
	DropRefused    = "refused: the job's submitter takes no results of this worker"
	DropProven     = "refused: a result of this worker was proven wrong to the leader's own node"
	DropParted     = "superseded: the leader's node came to another state on the way"
	DropUnknown    = "the leader does not know the job"
	DropUnproven   = "nothing shows that a leader gave the lease"
	// DropMoved ends a lease with its state saved, so that it goes on elsewhere
	// from there. A worker that cannot save it goes on, and says so.
	DropMoved = "moved: the task goes on elsewhere"
)
