package node

// The requests that a node answers to any peer.
const (
	methodPing = "ping" // empty body, empty answer
	methodJobs = "jobs" // body: jobsQuery; answer: JSON array of scheduler.JobStatus without tasks
	methodJob  = "job"  // body: jobQuery; answer: scheduler.JobStatus
	methodWhy  = "why"  // body: whyQuery; answer: Why
	methodGrid = "grid" // body: gridQuery; answer: message.Grid
	// methodSubmitted asks the submitter of a job how that stands; body: jobQuery; answer: message.JobStatus without
	// tasks.
	methodSubmitted = "submitted"
	methodKey       = "key" // body: keyQuery; answer: the key of a job of the asker's, in base64 as JSON

	methodScheduling = "scheduling" // body: jobsQuery; answer: scheduler.Scheduling

	methodStates = "states" // body: statesQuery; answer: CBOR of task.KeptStates

	methodHistory = "history" // body: historyQuery; answer: segments, see answerHistory
)
