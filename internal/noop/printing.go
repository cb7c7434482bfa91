package noop

// PrintingBytes is how much Printing writes.
const PrintingBytes = 16 << 10

// Printing is a WebAssembly module that writes its name and its first argument, which may have 100 bytes together, with
// zeros behind them: PrintingBytes in all, so that each task has an output of its own. It must not be changed.
//
//	(drop (call $args_get (i32.const 16) (i32.const 64)))
//	(i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 16384))
//	(drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
var Printing = []byte("\x00asm\x01\x00\x00\x00" + // magic and version
	"\x01\x12\x03\x60\x04\x7f\x7f\x7f\x7f\x01\x7f\x60\x02\x7f\x7f\x01\x7f\x60\x00\x00" + // types: of 4, of 2, of none
	"\x02\x45\x02" + // imports: two
	"\x16wasi_snapshot_preview1\x08" + "args_get\x00\x01" +
	"\x16wasi_snapshot_preview1\x08" + "fd_write\x00\x00" +
	"\x03\x02\x01\x02" + // functions: one
	"\x05\x03\x01\x00\x01" + // memories: one, of a page
	"\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x02" + // exports: two
	"\x0a\x28\x01\x26\x00\x41\x10\x41\xc0\x00\x10\x00\x1a\x41\x00\x41\xc0\x00\x36\x02\x00" + // code
	"\x41\x04\x41\x80\x80\x01\x36\x02\x00\x41\x01\x41\x00\x41\x01\x41\x08\x10\x01\x1a\x0b")
