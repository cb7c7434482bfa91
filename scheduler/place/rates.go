package place

import (
	"time"

	"godwit/task"
)

// Rates are what is known, measured or imposed, of how fast members execute
// classes of tasks and how fast those come. Rates are in tasks a second. What is
// not measured yet is a guess of whoever makes the Rates, who knows best; a
// policy does without those that Classes does not list.
type Rates interface {
	// Version is another one whenever members came or went or Classes has other
	// names. What else there is may change under the same version.
	Version() uint64
	// Classes are the classes of which tasks are known to come, each once; a task may
	// be of another. Their order settles ties. Read only.
	Classes() []Class
	// Peers are the members that are there, idle or busy, by name. Read only.
	Peers() []task.PeerID
	// Of is the rate mu_ij at which a slot of the member executes tasks of the class
	// while it has a whole processor; 0 if it cannot. It answers for any class. Where it
	// is the effective rate a_j mu_ij instead, Capacity counts slots whole.
	Of(class string, peer task.PeerID) float64
	// Capacity is how many whole processors the member has for tasks: for each slot
	// the share a_j, 0 to 1, that tasks get. 0 is a member that is not there.
	Capacity(peer task.PeerID) float64
	// Backlog is how long the tasks that the member was given and has not ended take
	// it in the mean, each in full: the sum of Q/mu in Kokaly's (4.1), in seconds.
	Backlog(peer task.PeerID) float64
}

// A Class is a class of tasks, and the rate alpha at which they come, in tasks a
// second; 0 where it is not known.
type Class struct {
	Name    string
	Arrival float64
}

// A ClassQueue is a Queue that shows the tasks of each class without those of
// others between them. Who goes through it uses either Next and SkipJob, or
// NextOf.
type ClassQueue interface {
	Queue
	// Waiting appends the classes of which tasks wait, each once and always in the
	// same order, to classes.
	Waiting(classes []string) []string
	// NextOf returns the next waiting task of a class, and false at the end of them.
	NextOf(class string) (Task, bool)
}

// guess is the rate of a class at a host as far as one of its tasks and the
// host's speed tell: where work is unknown, that of tasks of a second.
func guess(t *Task, h *Host) float64 {
	length := h.Length(t)
	if length <= 0 {
		if h.Speed > 0 {
			return h.Speed
		}
		return 1
	}
	return float64(time.Second) / float64(length)
}
