package wasi

// Errno is the result of every call, with the numbers of preview 1.
type Errno uint16

// The error numbers that this implementation answers with.
const (
	OK           Errno = 0
	EACCES       Errno = 2
	EBADF        Errno = 8
	EBUSY        Errno = 10
	EEXIST       Errno = 20
	EFAULT       Errno = 21
	EFBIG        Errno = 22
	EILSEQ       Errno = 25
	EINVAL       Errno = 28
	EISDIR       Errno = 31
	ELOOP        Errno = 32
	EMFILE       Errno = 33
	ENAMETOOLONG Errno = 37
	ENOENT       Errno = 44
	ENOSPC       Errno = 51
	ENOTDIR      Errno = 54
	ENOTEMPTY    Errno = 55
	ENOTSOCK     Errno = 57
	ENOTSUP      Errno = 58
	EPERM        Errno = 63
	ESPIPE       Errno = 70
	ENOTCAPABLE  Errno = 76
)
