package owner

import (
	"os"
	"path/filepath"
	"strings"
)

// planCage finds the control group of this process.
func planCage() *Cage {
	b, _ := os.ReadFile("/proc/self/cgroup")
	path, found := "", false
	for line := range strings.Lines(string(b)) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			path, found = p, true
		}
	}
	mount := cgroupMount()
	if !found || mount == "" {
		return &Cage{why: "the system has no control groups of version 2"}
	}
	return planGroup(filepath.Join(mount, path), os.Getpid())
}

// cgroupMount is where version 2's hierarchy is mounted; "" for nowhere.
func cgroupMount() string {
	b, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			return f[1]
		}
	}
	return ""
}
