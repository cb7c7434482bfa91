package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"godwit/internal/failure"
	"godwit/pilot"
)

// placePrefix begins the names of placeholders in batch systems that show no comments of jobs.
const placePrefix = "godwit-"

// placeName matches names that batch systems print unchanged.
var placeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// configure checks the flags and derives the placeholders' script from them.
func (f *pilotFlags) configure() error {
	f.cfg.Yield = pilot.Yield(f.yield)
	if err := f.cfg.Validate(); err != nil {
		return failure.Usage("for example --most 20", "%w", err)
	}
	switch {
	case f.poll < leastPoll || f.poll > longestPoll:
		return failure.Usage("leave --poll out", "--poll: %v, want %v to %v", f.poll, leastPoll, longestPoll)
	case f.cfg.Grace < 3*time.Second:
		return failure.Usage("use --yield drastic instead", "--grace: %v, want at least 3s", f.cfg.Grace)
	case f.prefixed && !strings.HasPrefix(f.name, placePrefix):
		return failure.Usage("other pilots recognize placeholders by it", "--name: %q, want a name that begins with %s",
			f.name, placePrefix)
	case !placeName.MatchString(f.name):
		return failure.Usage("use letters, digits, dots, dashes and underscores", "--name: %q", f.name)
	}
	me, err := user.Current()
	if err != nil {
		return fmt.Errorf("finding the user's name: %w", err)
	}
	f.user = me.Username
	if f.spec.Program == "" {
		if f.spec.Program, err = os.Executable(); err != nil {
			return fmt.Errorf("finding this program: %w", err)
		}
	}
	if f.spec.Dir == "" {
		f.spec.Dir = "/var/tmp/godwit-" + me.Username
	}
	if !filepath.IsAbs(f.spec.Program) || !filepath.IsAbs(f.spec.Dir) {
		return failure.Usage("write paths from /", "--program %s, --dir %s", f.spec.Program, f.spec.Dir)
	}
	f.spec.Grace = f.cfg.Grace
	if f.spec.Flags, err = f.upFlags(); err != nil {
		return err
	}
	return nil
}

// upFlags returns the flags of godwit up on the cluster's nodes.
func (f *pilotFlags) upFlags() ([]string, error) {
	var flags []string
	for _, o := range f.overlays {
		if path, isFile := strings.CutPrefix(o, "@"); isFile {
			if _, err := overlayNamed(o, nil); err != nil {
				return nil, err
			}
			full, err := filepath.Abs(path)
			if err != nil {
				return nil, err
			}
			o = "@" + full
		}
		flags = append(flags, "--overlay="+o)
	}
	for _, p := range f.peers {
		flags = append(flags, "--peer="+p)
	}
	for name, path := range map[string]string{"--swarm-key": f.swarmKey, "--config": f.config} {
		if path == "" {
			continue
		}
		full, err := filepath.Abs(path)
		if err == nil {
			_, err = os.Stat(full)
		}
		if err != nil {
			return nil, failure.Usage("", "%s: %w", name, err)
		}
		flags = append(flags, name+"="+full)
	}
	flags = append(flags, f.up...)
	up := newUp()
	if err := up.ParseFlags(flags); err != nil {
		return nil, failure.Usage("`godwit up --help` lists the flags", "flags of up: %w", err)
	}
	if rest := up.Flags().Args(); len(rest) > 0 {
		return nil, failure.Usage("write --up=--cores=2, with both equal signs", "--up: %q is no flag of up", rest[0])
	}
	f.spec.Rules = !up.Flags().Changed("config")
	for _, own := range []string{"data-dir", "api", "ready-fd"} {
		if up.Flags().Changed(own) {
			return nil, failure.Usage("leave it out", "--up: --%s is set by the pilot", own)
		}
	}
	return flags, nil
}
