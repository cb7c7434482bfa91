package thanks

import (
	"cmp"
	"strings"

	"godwit/task"
)

// A Page names what is said at once, of which the latest word counts: what a worker gave a submitter in one overlay
// on one day. One of the two is this node, Peer the other.
type Page struct {
	Overlay string
	Peer    task.PeerID
	Day     int64
}

// toWorker is the page of thanks at the submitter, fromSubmitter at the worker.
func toWorker(t *task.Thanks) Page { return Page{t.Overlay, t.Worker, t.Day} }

func fromSubmitter(t *task.Thanks) Page { return Page{t.Overlay, t.Submitter, t.Day} }

// comparePages orders by day first.
func comparePages(a, b Page) int {
	return cmp.Or(cmp.Compare(a.Day, b.Day), strings.Compare(a.Overlay, b.Overlay),
		strings.Compare(string(a.Peer), string(b.Peer)))
}
