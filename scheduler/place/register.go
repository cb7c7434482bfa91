package place

import "godwit/internal/spec"

// Params are the parameters of one specification: see its methods. It is named here
// for packages outside the module, which write policies too.
type Params = spec.Params

// A Kind is a policy by name.
type Kind struct {
	Params string // the names of its parameters, with spaces between them
	Does   string // what it does, in a line, for people
	// Make returns a new policy, for one coordinator. It reads each parameter, so
	// that all of them are checked; of parameters that are wrong nobody uses what it
	// returns. It is called more often than the policy is used: to check what somebody
	// wrote, too.
	Make func(ps *Params) Policy
}

// kinds has all policies by name. It is written by init functions only.
var kinds = map[string]Kind{}

// Default is the name of the policy used where none is named.
const Default = "expected"

// Register makes a policy known by name: to manifests, scenario files and the
// command's help. It is called from init functions only, of any package, and
// panics on a name that is taken, or that no specification could have.
func Register(name string, k Kind) {
	_, taken := kinds[name]
	spec.Declare("place", name, k.Params, taken)
	kinds[name] = k
}
