package scheduler

// A leaving is a lease that is to move: to is nil until a place is found.
type leaving struct {
	lease *lease
	why   cause
	there string
	to    *host
	but   string // why no place was found; "" for that the placement policy has none
}

// A cause says why a task should leave its member, in words when somebody asks. A
// migrate.Move is one.
type cause interface{ Why() string }

// inWords is a cause that is in words.
type inWords string

// Why implements cause.
func (w inWords) Why() string { return string(w) }
