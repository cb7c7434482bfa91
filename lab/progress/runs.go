package progress

import "godwit/scheduler"

// Runs puts runs into the words of a progress.
func Runs(done, total, workers int) (st scheduler.JobStatus) {
	st.Tasks.Total, st.Tasks.Done = uint64(total), uint64(done)
	st.Tasks.Running = uint64(min(workers, total-done))
	st.Tasks.Waiting = uint64(total-done) - st.Tasks.Running
	return st
}
