package noop

// Copying is a WebAssembly module that writes its standard input to its standard output. It must not be changed.
//
//	(loop
//	  (i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 4096)) ;; 4 KiB at 16
//	  (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
//	  (if (i32.load (i32.const 8)) (then
//	    (i32.store (i32.const 4) (i32.load (i32.const 8)))
//	    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 12))) (br 1))))
var Copying = []byte("\x00asm\x01\x00\x00\x00" + // magic and version
	"\x01\x0c\x02\x60\x04\x7f\x7f\x7f\x7f\x01\x7f\x60\x00\x00" + // types: (i32 i32 i32 i32) -> (i32), () -> ()
	"\x02\x44\x02" + // imports: two
	"\x16wasi_snapshot_preview1\x07" + "fd_read\x00\x00" +
	"\x16wasi_snapshot_preview1\x08" + "fd_write\x00\x00" +
	"\x03\x02\x01\x01" + // functions: one
	"\x05\x03\x01\x00\x01" + // memories: one, of a page
	"\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x02" + // exports: two
	"\x0a\x40\x01\x3e\x00\x03\x40\x41\x00\x41\x10\x36\x02\x00\x41\x04\x41\x80\x20\x36\x02\x00\x41\x00\x41\x00" + // code
	"\x41\x01\x41\x08\x10\x00\x1a\x41\x08\x28\x02\x00\x04\x40\x41\x04\x41\x08\x28\x02\x00\x36\x02\x00\x41\x01" +
	"\x41\x00\x41\x01\x41\x0c\x10\x01\x1a\x0c\x01\x0b\x0b\x0b")
