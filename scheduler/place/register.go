package place

import "godwit/internal/spec"

// Params are the parameters of one specification: see its methods. It is named here
// for packages outside the module, which write policies too.
type Params = spec.Params

// A Kind is a policy by name: its parameters, what it does, and how it is made for
// one coordinator.
type Kind = spec.Kind[Policy]

// Default is the name of the policy used where none is named.
const Default = "expected"

// Register makes a policy known by name: to manifests, scenario files and the
// command's help. It is called from init functions only, of any package, and
// panics on a name that is taken, or that no specification could have.
func Register(name string, k Kind) { kinds.Register(name, k) }

var kinds = spec.Registry[Policy]{Room: "place", Prefix: "place: ", Thing: "policy", Default: Default}
