package share

import "godwit/internal/spec"

// Params are the parameters of one specification: see its methods. It is named here
// for packages outside the module, which write policies too.
type Params = spec.Params

// A Kind is a policy by name: its parameters, what it does, and how it is made for
// one coordinator.
type Kind = spec.Kind[Policy]

// Default is the name of the policy used where none is named.
const Default = "equal"

// Register makes a policy known by name: to manifests, scenario files and the
// command's help. It is called from init functions only, of any package, and
// panics on a name that is taken, or that no specification could have.
func Register(name string, k Kind) { kinds.Register(name, k) }

var kinds = spec.Registry[Policy]{Room: "share", Prefix: "share: ", Thing: "policy", Default: Default}

// A kind is one of the policies here, which have commonParams beside their own.
type kind struct {
	params, does string
	make         func(ps *Params) *dividing
}

// register registers one of the policies here.
func register(name string, k kind) {
	Register(name, Kind{Params: k.params + " " + commonParams, Does: k.does, Make: func(ps *Params) Policy {
		p := k.make(ps)
		p.readCommon(ps)
		return p
	}})
}
