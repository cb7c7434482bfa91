package message

import "godwit/task"

// LookAtSignatures has a driver look at who signed the results that a message from a peer brings,
// where that may be done beside the machines: they look themselves at what is not marked as signed.
// verify is Result.Verify, or answers as it does. It looks at results that count by their worker's
// signature: of a Report those of the worker that tells, and all of a Progress.
func (m *Message) LookAtSignatures(from task.PeerID, verify func(*task.Result) error) {
	switch {
	case m.Report != nil:
		for i := range m.Report.Ended {
			e := &m.Report.Ended[i]
			e.Signed = e.Result.Worker == from && verify(&e.Result) == nil
		}
	case m.Progress != nil:
		for i := range m.Progress.Tasks {
			t := &m.Progress.Tasks[i]
			t.Signed = len(t.Results) > 0
			for k := range t.Results {
				t.Signed = t.Signed && verify(&t.Results[k]) == nil
			}
		}
	}
}
