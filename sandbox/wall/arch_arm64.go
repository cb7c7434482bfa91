//go:build linux

package wall

const (
	// auditArch is AUDIT_ARCH_AARCH64 of the kernel's linux/audit.h.
	auditArch = 0xc000_00b7
	// foreignCalls is beyond all numbers: there is no other interface.
	foreignCalls = 0x8000_0000
)

// ownCalls are what this architecture has beside the others.
var ownCalls []uint32
