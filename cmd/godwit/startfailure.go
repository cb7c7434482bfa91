package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"godwit/internal/failure"
	"godwit/node"
	"godwit/task"
)

// filesHint is the remedy for too few open files. A node with all its connections needs that many.
const filesHint = "raise the limit: `ulimit -n 1024`, or LimitNOFILE=1024 in the service"

// startFailure adds the remedy to an error that keeps a node from starting. The error itself names
// the file.
func startFailure(err error, cfg node.Config) error {
	if inFile := (*task.Error)(nil); errors.As(err, &inFile) {
		return &failure.Error{Code: failure.ExitUsage, Err: err, Hint: inFile.Hint}
	}
	return &failure.Error{Code: failure.ExitFailed, Err: err, Hint: startHint(err, cfg)}
}

// startHint returns the remedy for an error of node.New, or "" if there is nothing to advise.
func startHint(err error, cfg node.Config) string {
	switch {
	case errors.Is(err, node.ErrInUse):
		return fmt.Sprintf("another node uses %s: stop it, or give this one its own --data-dir", cfg.DataDir)
	case errors.Is(err, node.ErrIdentity):
		return "restore the file from a backup, or move it away: the node then gets a new identity, and loses its " +
			"invitations, its credit and the trust of others"
	case errors.Is(err, node.ErrDamaged):
		return "restore the file from a backup, or move it away and join again with `godwit overlay join`: an " +
			"overlay by invitation needs a new invitation"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE),
		strings.Contains(err.Error(), syscall.EMFILE.Error()): // the store passes on some errors as texts
		return filesHint
	case errors.Is(err, node.ErrStoreDamaged):
		return fmt.Sprintf("start the node again; if it fails again, move the directory store in %s away and look at "+
			"it with `godwit doctor --store`", cfg.DataDir)
	case errors.Is(err, node.ErrDiskFull):
		return fmt.Sprintf("free space on the disk that holds %s, then start the node again", cfg.DataDir)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("the user that runs the node must be able to write to %s: change its owner or mount it "+
			"for writing, or choose another --data-dir", cfg.DataDir)
	}
	return ""
}
