package sandbox

import "godwit/task"

// A Tenant is the party whose data a task handles. A guest that took over its process through a fault of the engine could
// read what earlier tasks left in the process and forge the results of later ones. A process that has run a guest of one
// tenant therefore never runs a guest of another. The zero value is the machine's owner.
type Tenant struct {
	Submitter task.PeerID
	Overlay   string // ID
	Sealed    string // commitment to the key under which the job's files are sealed; "" if they are not
}
