package budget

import (
	"errors"
	"fmt"
	"sync"

	"godwit/task"
)

// ErrFull is returned where more bytes do not fit into the budget.
var ErrFull = errors.New("node: the disk space that its owner lends is taken")

// A Use is what bytes on the disk are for.
type Use int

// The uses of a node's disk.
const (
	Blocks  Use = iota // content
	Staged             // files of jobs that are ready
	Modules            // compiled, which can be made again
	Rest               // all else in the data directory: what the store takes beside the blocks
	uses    = int(Rest) + 1
)

// Uses returns all of them.
func Uses() []Use { return []Use{Blocks, Staged, Modules, Rest} }

// String names the use for people.
func (u Use) String() string {
	return [uses]string{"content", "files of ready jobs", "compiled modules", "the rest"}[u]
}

// A Disk is the budget of a data directory. The zero value has no bound and counts. It is
// safe for concurrent use.
type Disk struct {
	mu      sync.Mutex
	most    int64
	used    [uses]int64
	modules *Dir // gives room at once; nil: nothing does
}

// Yield has compiled modules give room where it is needed. It may be called once, before
// the Disk is used.
func (d *Disk) Yield(modules *Dir) { d.modules = modules }

// SetMost sets how many bytes everything together may take; 0 is no bound. What is there
// stays.
func (d *Disk) SetMost(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.most = bytes
}

// Reserve counts bytes that are about to be written. It fails with ErrFull, and counts
// nothing, where they do not fit and compiled modules cannot make way for all of them.
func (d *Disk) Reserve(u Use, bytes int64) error {
	lacking := d.reserve(u, bytes)
	if lacking > 0 && lacking <= d.Used(Modules) {
		d.ShrinkModules(lacking)
		lacking = d.reserve(u, bytes)
	}
	if lacking > 0 {
		return d.Full(bytes, 1)
	}
	return nil
}

// reserve returns how many bytes are lacking; with 0 they are counted.
func (d *Disk) reserve(u Use, bytes int64) (lacking int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if lacking = d.lacking(bytes, 1); lacking == 0 {
		d.used[u] += bytes
	}
	return lacking
}

// Release takes bytes out of the count that were deleted, or were not written after all.
func (d *Disk) Release(u Use, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used[u] = max(0, d.used[u]-bytes)
}

// Measured takes in how many bytes the data directory was found to take altogether: what
// is not of the other uses is the Rest.
func (d *Disk) Measured(all int64) {
	if d.modules != nil {
		d.set(Modules, d.modules.Size())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used[Rest] = 0
	d.used[Rest] = max(0, all-d.sum())
}

func (d *Disk) set(u Use, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used[u] = bytes
}

// Lacking returns how many bytes have to go before so many more fit into a share, above 0
// and at most 1, of the budget; 0 where they fit.
func (d *Disk) Lacking(bytes int64, share float64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lacking(bytes, share)
}

// lacking is Lacking as things are; d.mu is held.
func (d *Disk) lacking(bytes int64, share float64) int64 {
	if d.most == 0 {
		return 0
	}
	return max(0, d.sum()+bytes-int64(share*float64(d.most)))
}

func (d *Disk) sum() (n int64) {
	for _, used := range d.used {
		n += used
	}
	return n
}

// ShrinkModules has compiled modules make way for so many bytes, or all that there are.
func (d *Disk) ShrinkModules(bytes int64) {
	if d.modules != nil {
		d.set(Modules, d.modules.Shrink(bytes))
	}
}

// Used returns how many bytes are counted for a use.
func (d *Disk) Used(u Use) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used[u]
}

// Most returns how many bytes everything together may take; 0 is no bound.
func (d *Disk) Most() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.most
}

// Full says for people why so many bytes more do not fit into a share, as with Lacking. It
// wraps ErrFull.
func (d *Disk) Full(bytes int64, share float64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := ""
	for u, used := range d.used {
		if used == 0 {
			continue
		}
		text += fmt.Sprintf(", %s for %v", task.FormatSize(used), Use(u))
	}
	part := ""
	if share < 1 {
		part = fmt.Sprintf(", of which new work may fill %.0f %%", 100*share)
	}
	return fmt.Errorf("%w: %s more do not fit into the %s of max_disk%s: %s are taken%s",
		ErrFull, task.FormatSize(bytes), task.FormatSize(d.most), part, task.FormatSize(d.sum()), text)
}
