package message

import "godwit/task"

// printTexts makes what peers wrote for people Printable. Texts that are signed are left as
// they are: those of a result that does not print do not verify.
func (m *Message) printTexts() {
	printText := func(s *string) { *s = task.ClipMessage(*s) }
	switch {
	case m.Accepted != nil:
		// The refusal of a job may say much about a long name.
		m.Accepted.Error = task.Printable(m.Accepted.Error, len(m.Accepted.Error))
	case m.Progress != nil:
		printText(&m.Progress.Summary.State)
		for i := range m.Progress.Tasks {
			t := &m.Progress.Tasks[i]
			t.Reason = task.Printable(t.Reason, 2*task.MaxMessage)
			for k := range t.Attempts {
				printText(&t.Attempts[k].Outcome)
				printText(&t.Attempts[k].Reason)
			}
		}
	case m.Report != nil:
		for i := range m.Report.Refused {
			printText(&m.Report.Refused[i].Reason)
		}
		for i := range m.Report.Unmoved {
			printText(&m.Report.Unmoved[i].Reason)
		}
	case m.Ack != nil:
		for _, names := range [][]AttemptName{m.Ack.Ended, m.Ack.Drop} {
			for i := range names {
				printText(&names[i].Reason)
			}
		}
	case m.Wrong != nil:
		printText(&m.Wrong.Why)
	case m.Copied != nil:
		for i := range m.Copied.Held {
			printText(&m.Copied.Held[i].Err)
		}
	}
}
