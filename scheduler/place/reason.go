package place

// A Reason says, for people, why a task goes where it goes. It is put into
// words only when somebody asks: a simulation decides millions of times a
// second, and nobody looks. The zero Reason says nothing.
type Reason struct {
	words func(*Reason) string // nil: text
	text  string
	x, y  float64 // what words speaks of
	z     float64
	n, m  int64
}

// Because returns the reason that text says.
func Because(text string) Reason { return Reason{text: text} }

// String returns the reason in words.
func (r Reason) String() string {
	if r.words == nil {
		return r.text
	}
	return r.say()
}

// say is apart since it takes memory: String need not, of a plain text.
func (r Reason) say() string { return r.words(&r) }
