// Package wall takes from a process what it does not need, so that native code of a stranger in it gets nothing: it is
// the second wall, behind WebAssembly, and must hold where the compiler has a fault.
//
// A child calls [Shut] once it has opened all that it ever needs. A parent calls [Protect] when it starts, has
// [Namespaces] put into how it starts children, and sets their limits on memory with [LimitData], since they cannot.
//
// On Linux there are four layers, of which each holds without the others: a filter of system calls (seccomp), no way to
// files and ports (Landlock), namespaces of its own, and hard limits. What a kernel lacks is left out, and [State] says
// so. On other systems there is no such wall.
package wall

// A State says which layers hold in a process. The zero value says that none does.
type State struct {
	Filter   bool // the filter of system calls holds, in all threads
	Landlock int  // version of the interface that holds in all threads; 0 for none
	Own      bool // it has namespaces of its own: users, processes, network, messages, names
	// Why has a reason for each layer that does not hold, in the order of the fields; "" for one that does.
	Why [3]string
}
