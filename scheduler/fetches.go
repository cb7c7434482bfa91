package scheduler

import (
	"strconv"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// A fetching is a Fetch that was not answered: of a job's blocks, or of the
// outputs or a checkpoint of a lease.
type fetching struct {
	key   string
	job   *job
	holds holding
	lease *lease              // nil when it is the job's
	saved *message.Checkpoint // the lease's checkpoint, where that is fetched
	// sought are blocks that should be held here; nil for the others.
	sought *message.HoldName
	// stray is the task of a checkpoint that is of no lease, and from who has it.
	stray *task.TaskID
	from  task.PeerID
}

func (t *jobTable) fetch(f *fetching, cids []task.CID, holders []task.PeerID) {
	t.fetches[f.key] = f
	e := message.Fetch{Key: f.key, CIDs: cids, Holders: holders}
	switch {
	case f.sought != nil:
		e.Most = mostOf(*f.sought)
	case f.stray != nil, f.saved != nil:
	case f.lease != nil:
		e.Sizes, e.Most = message.SizesOf(&f.lease.ending.Result), task.MaxOutputBytes
	default:
		e.Sizes = durable.JobSizes(f.job.spec)
	}
	t.c.emit(e)
}

// mostOf returns how many bytes the blocks of a hold may have; 0: what the driver allows.
func mostOf(n message.HoldName) int64 {
	if n.Kind == message.HoldOutputs {
		return task.MaxOutputBytes
	}
	return 0
}

func (t *jobTable) fetched(ev message.Fetched) {
	f := t.fetches[ev.Key]
	if f == nil {
		return
	}
	delete(t.fetches, ev.Key)
	if f.sought != nil {
		t.c.seeker.soughtBlocks(*f.sought, ev.Err)
		return
	}
	if f.stray != nil {
		t.c.transfers.strayFetched(f, ev.Err)
		return
	}
	if f.saved != nil {
		t.c.reports.checkpointFetched(f, ev.Err)
		return
	}
	if f.lease != nil {
		t.c.reports.outputsFetched(f.lease, ev.Err)
		return
	}
	j := f.job
	if ev.Err != "" {
		t.forgetJob(j)
		later := t.c.cfg.RefusalPause
		if ev.Wrong {
			later = 0
		}
		t.c.emit(message.Send{To: j.submitter, Message: message.Message{Accepted: &message.Accepted{
			Job: j.id, Error: task.ClipMessage("fetching the job's files failed: " + ev.Err), RetryAfter: later,
		}}})
		return
	}
	t.open(j, f.holds)
}

func stateKey(id task.TaskID, a message.Attempt) string {
	return durable.TaskKey(coordinatorPrefix+"k/", id) + "/" + strconv.FormatUint(a.Epoch, 10) + "." +
		strconv.FormatUint(a.Seq, 10)
}

// holdKey names the Fetch of blocks that are held for others.
func holdKey(n message.HoldName) string {
	return durable.TaskKey(coordinatorPrefix+"h/", n.Task) + "/" + string('0'+rune(n.Kind))
}

// maxHoldFetches is how many Fetches a coordinator has under way for blocks
// that it holds for others: enough to fill a link with small ones.
const maxHoldFetches = 16
