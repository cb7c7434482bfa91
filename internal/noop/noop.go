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

// Counting is Module, but that it counts to a million first: it uses several units of fuel for
// each, and can be stopped on the way. It must not be changed.
//
//	(func (export "_start") (local i32) (loop
//	  (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 1000000)))))
var Counting = append(Module[:len(Module)-6:len(Module)-6],
	0x0a, 0x17, 0x01, 0x15, 0x01, 0x01, 0x7f, // code: a local
	0x03, 0x40, // loop
	0x20, 0x00, 0x41, 0x01, 0x6a, 0x22, 0x00, // it is one more
	0x41, 0xc0, 0x84, 0x3d, 0x49, 0x0d, 0x00, // again, if that is below 1,000,000
	0x0b, 0x0b)

// Writing is Module, but that it counts to ten million first and writes each number to its memory:
// it uses some hundred million units of fuel, and its states differ. It must not be changed.
//
//	(func (export "_start") (local i32) (loop
//	  (i32.store (i32.and (local.get 0) (i32.const 0xfffc)) (local.get 0))
//	  (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 10000000)))))
var Writing = append(Module[:len(Module)-6:len(Module)-6],
	0x0a, 0x24, 0x01, 0x22, 0x01, 0x01, 0x7f, // code: a local
	0x03, 0x40, // loop
	0x20, 0x00, 0x41, 0xfc, 0xff, 0x03, 0x71, 0x20, 0x00, 0x36, 0x02, 0x00, // it is written
	0x20, 0x00, 0x41, 0x01, 0x6a, 0x22, 0x00, // it is one more
	0x41, 0x80, 0xad, 0xe2, 0x04, 0x49, 0x0d, 0x00, // again, if that is below 10,000,000
	0x0b, 0x0b)
