// Package wasi is WASI preview 1 on a state that can be written down.
//
// Everything a guest can learn or change through its imports lies in one
// State: arguments, environment, files, open descriptors, clock, random
// stream. It holds no handle of the host, so a State can be encoded, carried
// to another machine and go on there. Nothing in it depends on the host: two
// runs of a module on equal States see equal answers to every call.
//
// What is unlike a real system, and why:
//
//   - The clock is virtual. It starts at Epoch and moves ReadStep with each
//     reading; waiting moves it to the end of the wait and takes no time.
//   - Random bytes follow from the task's name. See State.Random.
//   - The whole file system is one tree in memory, preopened as "/" on
//     descriptor 3. Inputs are read-only. Directories list in name order.
//   - Going over a quota ends the guest instead of failing the call: a
//     program that ignores errors could otherwise go on for ever.
//   - There is no network: socket calls answer ENOTSOCK or ENOTSUP.
//
// Names and numbers are those of the interface definition,
// https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md
package wasi
