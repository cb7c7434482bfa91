package node

import (
	"context"

	disks "github.com/shirou/gopsutil/v4/disk"

	"godwit/owner"
	"godwit/task"
)

// leastLeft is the room below which a disk is told to be as good as full: the store's log and what it merges take
// several files of some MiB before they give any back.
const leastLeft = 64 << 20

// diskLeft looks at the disk below the node's data.
func (n *Node) diskLeft(ctx context.Context) owner.Finding {
	full := false
	_ = n.look(ctx, func() { full = n.full }) // of a node that ends, the disk itself tells
	left, err := freeBytes(n.cfg.DataDir)
	return diskFinding(n.cfg.DataDir, left, err, full)
}

// DiskLeft looks at the disk below a node's data where no node runs.
func DiskLeft(dir string) owner.Finding {
	left, err := freeBytes(dir)
	return diskFinding(dir, left, err, false)
}

func freeBytes(dir string) (int64, error) {
	u, err := disks.Usage(dir)
	if err != nil {
		return 0, err
	}
	return int64(u.Free), nil
}

// diskFinding says whether there is room for what a node keeps in dir; full is what a node met when it wrote.
func diskFinding(dir string, left int64, err error, full bool) owner.Finding {
	f := owner.Finding{Check: "room on the disk", Result: owner.OK}
	const fix = "make room there, or lend less of it: `godwit config set max_disk 10GiB`"
	switch {
	case full:
		f.Result, f.Fix = owner.Bad, fix
		f.Text = fullReason
		if err == nil {
			f.Text += " (" + task.FormatSize(left) + " are free in " + dir + ")"
		}
	case err != nil:
		f.Result, f.Text = owner.Blind, "not known: "+err.Error()
		f.Fix = "see whether " + dir + " is there and can be read"
	case left < leastLeft:
		f.Result, f.Fix = owner.Bad, fix
		f.Text = task.FormatSize(left) + " are free in " + dir + ", which is too little for a node to go on"
	default:
		f.Text = task.FormatSize(left) + " are free in " + dir
	}
	return f
}
