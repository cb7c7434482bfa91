package node

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	ds "github.com/ipfs/go-datastore"

	"godwit/blocks/disk"
	"godwit/p2p"
)

// KeyName is the file of a node's identity in its data directory. It is there from the first start on.
const KeyName = "identity.key"

// openData makes the data directory and opens what is in it.
func openData(cfg Config) (ed25519.PrivateKey, ds.Batching, error) {
	for _, dir := range []string{cfg.stageDir(), cfg.scratchDir(), cfg.cacheDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, fmt.Errorf("making the data directory: %w", err)
		}
	}
	if err := closeToOthers(cfg); err != nil {
		return nil, nil, err
	}
	key, err := p2p.LoadOrCreateKey(filepath.Join(cfg.DataDir, KeyName))
	if err != nil {
		return nil, nil, fmt.Errorf("loading the node's identity: %w", err)
	}
	data, err := openStore(cfg)
	if err != nil {
		return nil, nil, err
	}
	// What was staged by a node that ended nobody knows of, and may not be whole
	// after a power cut.
	if err := errors.Join(os.RemoveAll(cfg.stageDir()), os.Mkdir(cfg.stageDir(), 0o700)); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("making the data directory: %w", err), data.Close())
	}
	return key, data, nil
}

// closeToOthers takes from all but the owner what rights they have to a data directory that
// was there: whoever reads its key is this node.
func closeToOthers(cfg Config) error {
	const others = 0o077
	info, err := os.Stat(cfg.DataDir)
	if err != nil {
		return fmt.Errorf("looking at the data directory: %w", err)
	}
	if runtime.GOOS == "windows" || info.Mode().Perm()&others == 0 { // there its rights are not these bits
		return nil
	}
	cfg.Log.Warn("other users of this machine had access to the node's data directory; they have none any more", "dir",
		cfg.DataDir, "mode", info.Mode().Perm().String())
	if err := os.Chmod(cfg.DataDir, info.Mode().Perm()&^others); err != nil {
		return fmt.Errorf("keeping others out of the data directory: %w", err)
	}
	return nil
}

// openStore opens the node's store. Of one that is damaged it recovers what is readable first.
func openStore(cfg Config) (ds.Batching, error) {
	dir := cfg.storeDir()
	data, err := disk.Open(dir)
	if errors.Is(err, disk.ErrCorrupt) && !isLocked(err) {
		data, err = recoverStore(cfg, dir, err)
	}
	if isLocked(err) {
		return nil, fmt.Errorf("%w by another node: %s", ErrInUse, cfg.DataDir)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the node's store: %w", err)
	}
	return data, nil
}

// isLocked tells a store that another node has locked from one that this node
// may not open, whose error names the file. The store has no error value for a
// lock of this very process.
func isLocked(err error) bool {
	var file *fs.PathError
	if err == nil || errors.As(err, &file) {
		return false
	}
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) ||
		strings.Contains(err.Error(), "lock held by current process")
}
