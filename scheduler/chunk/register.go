package chunk

import "godwit/internal/spec"

// Params are the parameters of one specification: see its methods. It is named here
// for packages outside the module, which write policies too.
type Params = spec.Params

// A Kind is a policy by name.
type Kind struct {
	Params string // the names of its parameters, with spaces between them
	Does   string // what it does, in a line, for people
	// Make returns a new policy, for one job, of which Runs and Trials are 1 or more. It reads each parameter, so
	// that all of them are checked; of parameters that are wrong nobody uses what it
	// returns. It is called more often than the policy is used: to check what somebody
	// wrote, too.
	Make func(ps *Params, j Job) Policy
}

// Register makes a policy known by name: to manifests, scenario files and the
// command's help. It is called from init functions only, of any package, and
// panics on a name that is taken, or that no specification could have.
func Register(name string, k Kind) {
	of := func(ps *Params) func(Job) Policy {
		return func(j Job) Policy { return k.Make(ps, j) }
	}
	kinds.Register(name, spec.Kind[func(Job) Policy]{Params: k.Params, Does: k.Does, Make: of})
}

// kinds has how policies are made for a job, which reads their parameters.
var kinds = spec.Registry[func(Job) Policy]{Room: "chunk", Prefix: "chunk: ", Thing: "policy", Default: Default}
