// Package noop has the smallest program, for tasks that only wait.
package noop

// Module is a WebAssembly module that exports a memory of one page and a _start that
// returns at once. It must not be changed. In the text format:
//
//	(module (memory (export "memory") 1) (func (export "_start")))
var Module = []byte{
	0x00, 'a', 's', 'm', 0x01, 0x00, 0x00, 0x00, // magic and version
	0x01, 0x04, 0x01, 0x60, 0x00, 0x00, // types: () -> ()
	0x03, 0x02, 0x01, 0x00, // functions: one, of that type
	0x05, 0x03, 0x01, 0x00, 0x01, // memories: one, of a page
	0x07, 0x13, 0x02, // exports: two
	0x06, 'm', 'e', 'm', 'o', 'r', 'y', 0x02, 0x00,
	0x06, '_', 's', 't', 'a', 'r', 't', 0x00, 0x00,
	0x0a, 0x04, 0x01, 0x02, 0x00, 0x0b, // code: no locals, end
}
