package progress

import "godwit/scheduler/message"

// Runs puts runs into the words of a progress.
func Runs(done, total, workers int) (st message.JobStatus) {
	st.Tasks.Total, st.Tasks.Done = uint64(total), uint64(done)
	st.Tasks.Running = uint64(min(workers, total-done))
	st.Tasks.Waiting = uint64(total-done) - st.Tasks.Running
	return st
}
