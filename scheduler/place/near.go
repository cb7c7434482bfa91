package place

import "godwit/task"

// Holdings is who is believed to hold inputs of tasks.
type Holdings interface {
	// Holds reports whether a member holds an input, Held whether any does.
	Holds(peer task.PeerID, input task.CID) bool
	Held(input task.CID) bool
	// Note says that a member is to hold an input from now on.
	Note(peer task.PeerID, input task.CID)
}

// Nearest says which of some waiting tasks of one job, alike in all but what they read, each of some members
// gets that a policy has chosen for tasks of the job: the one of whose inputs it holds most bytes. A
// member that holds nothing that any of them reads gets the first of which nobody holds anything, so that
// the others are left to who does; or else the first. reads are the inputs that matter of each task, in the order of
// the tasks; there are as many tasks as peers, at least. What is returned are their places. Holdings are told.
func Nearest(peers []task.PeerID, reads [][]task.FileRef, h Holdings) []int {
	chosen, used := make([]int, len(peers)), make([]bool, len(reads))
	take := func(k, i int) {
		chosen[k], used[i] = i, true
		for _, in := range reads[i] {
			h.Note(peers[k], in.CID)
		}
	}
	for k, peer := range peers {
		chosen[k] = -1
		if i := mostHeld(peer, reads, used, h); i >= 0 {
			take(k, i)
		}
	}
	for k := range peers {
		if chosen[k] < 0 {
			take(k, firstUnheld(reads, used, h))
		}
	}
	return chosen
}

// mostHeld is the first task of whose inputs a member holds most bytes, -1 where it holds none of any.
func mostHeld(peer task.PeerID, reads [][]task.FileRef, used []bool, h Holdings) int {
	best, most := -1, int64(0)
	for i := range reads {
		if used[i] {
			continue
		}
		var bytes int64
		for _, in := range reads[i] {
			if h.Holds(peer, in.CID) {
				bytes += in.Size
			}
		}
		if bytes > most {
			best, most = i, bytes
		}
	}
	return best
}

// firstUnheld is the first task of whose inputs nobody holds any, or else the first.
func firstUnheld(reads [][]task.FileRef, used []bool, h Holdings) int {
	first := -1
	for i := range reads {
		if used[i] {
			continue
		}
		if first < 0 {
			first = i
		}
		held := false
		for _, in := range reads[i] {
			held = held || h.Held(in.CID)
		}
		if !held {
			return i
		}
	}
	return first
}
