package message

// Kind names the message that is set, for a log; "nothing" for none.
func (m *Message) Kind() string {
	for _, k := range [...]struct {
		set  bool
		name string
	}{
		{m.Submit != nil, "submit"}, {m.Accepted != nil, "accepted"}, {m.Progress != nil, "progress"},
		{m.Got != nil, "got"}, {m.Cancel != nil, "cancel"}, {m.Place != nil, "place"}, {m.Report != nil, "report"},
		{m.Ack != nil, "ack"}, {m.Known != nil, "known"}, {m.Wanted != nil, "wanted"}, {m.Copy != nil, "copy"},
		{m.Copied != nil, "copied"},
	} {
		if k.set {
			return k.name
		}
	}
	return "nothing"
}
