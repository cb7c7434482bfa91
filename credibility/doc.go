// Package credibility says how far the results of a worker are believed that nobody has
// run again, how much of the next one is to be, and which parts of it.
//
// It is a calculation of one submitter about one worker, in the sense of Sarmenta 2001
// (Sabotage-tolerance mechanisms for volunteer computing systems, section 3), with workers
// that were found wrong excluded. A task is audited in intervals of its run: an interval is
// run again from a state that its worker signed, and ends in the state that the worker
// signed, or does not.
//
// Where others run tasks again, what they come to is weighed as votes: see Vote.
//
// Submitters go by it (package scheduler/submitter), with audits of whole tasks, and simulated
// workers are judged by it (package reproduce/trust).
package credibility
