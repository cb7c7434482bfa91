package credibility

// The least sample of a job whose results are checked, however small its share is.
const (
	// SampleTasks is the number of tasks that are checked of a job of many tasks, and SampleShare the share of a job
	// of few.
	SampleTasks = 10
	SampleShare = 1. / 3
	// SampleSource is the number of results that are checked of each source: of a member that delivers results, or
	// signs their receipts.
	SampleSource = 3
)

// Sample returns the least number of a job's tasks to be checked, at most all of them.
func Sample(tasks uint64) uint64 {
	third := (tasks + 2) / 3
	return min(tasks, max(SampleSource, min(SampleTasks, third)))
}
