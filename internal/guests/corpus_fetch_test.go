package guests

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// errAbsent is wrapped where something cannot be had here: a registry that is
// not reached, a client that is not installed. It is no fault of the sandbox's,
// and the row says so.
var errAbsent = errors.New("not to be had")

// A larder keeps what was fetched and built, each thing in a folder of its own
// that is there only once it is complete.
type larder struct {
	dir string
}

// openLarder uses GODWIT_CORPUS_CACHE, or a folder below the system's temporary one.
func openLarder() (*larder, error) {
	dir := os.Getenv("GODWIT_CORPUS_CACHE")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "godwit-corpus")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &larder{dir}, os.MkdirAll(dir, 0o755)
}

// notFile is what a folder's name does without.
var notFile = regexp.MustCompile(`[^A-Za-z0-9.+-]+`)

// keep gives the folder that make filled, now or in an earlier run. what is
// all that the content follows from.
func (l *larder) keep(kind, name, what string, make func(dir string) error) (string, error) {
	sum := sha256.Sum256([]byte(what))
	dir := filepath.Join(l.dir, kind, fmt.Sprintf("%s-%x", notFile.ReplaceAllString(name, "_"), sum[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(filepath.Dir(dir), "part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	if err := make(part); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return dir, os.Rename(part, dir)
}

// client runs a registry's client. What it fails with means that the thing is not to be had.
func client(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%w: there is no %s", errAbsent, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s %s: %w: %s", errAbsent, name, args[0], err, clipped(words.String()))
	}
	return out, nil
}

// clipped is the end of what a tool said, on one line.
func clipped(words string) string {
	const most = 300
	line := strings.Join(strings.Fields(words), " ")
	return line[max(0, len(line)-most):]
}

// Where Debian's packages come from: one suite for all tools, so that a row means the
// same everywhere, and a later one for sources that the first does not have.
const (
	debianSuite = "bookworm"
	laterSuite  = "trixie"
	debianURL   = "http://deb.debian.org/debian"
)

// apt returns the arguments of apt-get with which it sees those suites alone,
// and takes nothing for installed; the system's lists stay as they are.
func (l *larder) apt() ([]string, error) {
	dir, err := l.keep("apt", "lists", debianSuite+laterSuite+debianURL, func(dir string) error {
		list := fmt.Sprintf("deb %s %s main\ndeb-src %[1]s %[2]s main\ndeb-src %[1]s %[3]s main\n", debianURL, debianSuite,
			laterSuite)
		for _, d := range []string{"state/lists/partial", "cache/archives/partial"} {
			if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
				return err
			}
		}
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "sources.list"), []byte(list), 0o644),
			os.WriteFile(filepath.Join(dir, "status"), nil, 0o644)); err != nil {
			return err
		}
		_, err := client(dir, "apt-get", append(aptOptions(dir), "update", "-o", "APT::Update::Error-Mode=any")...)
		return err
	})
	return aptOptions(dir), err
}

func aptOptions(dir string) []string {
	o := []string{"-q", "-y"}
	for _, s := range []string{
		"Dir::Etc::sourcelist=" + filepath.Join(dir, "sources.list"), "Dir::Etc::sourceparts=-",
		"Dir::State=" + filepath.Join(dir, "state"), "Dir::State::status=" + filepath.Join(dir, "status"),
		"Dir::Cache=" + filepath.Join(dir, "cache"), "Debug::NoLocking=1", "APT::Sandbox::User=root",
		"APT::Install-Recommends=false",
	} {
		o = append(o, "-o", s)
	}
	return o
}

// hosts are packages of which the host's own copy does: its C library must be that of its loader.
var hosts = regexp.MustCompile(`^(libc6|libc-bin|libc6-dev|perl|perl-base|libperl5|dpkg|tar|libcrypt1)_`)

// debs gives a folder with these packages of Debian's and all that they need, unpacked and not installed.
func (l *larder) debs(name string, packages ...string) (string, error) {
	return l.keep("debs", name, debianSuite+runtime.GOARCH+strings.Join(packages, " "), func(dir string) error {
		o, err := l.apt()
		if err != nil {
			return err
		}
		archives, err := os.MkdirTemp(l.dir, "archives-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(archives)
		if err := os.Mkdir(filepath.Join(archives, "partial"), 0o755); err != nil {
			return err
		}
		o = append(o, "-o", "Dir::Cache::archives="+archives, "install", "--download-only")
		if _, err := client(dir, "apt-get", append(o, packages...)...); err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(archives, "*.deb"))
		if err != nil {
			return err
		}
		for _, f := range files {
			if hosts.MatchString(filepath.Base(f)) {
				continue
			}
			if _, err := client(dir, "dpkg", "-x", f, dir); err != nil {
				return err
			}
		}
		return nil
	})
}

// source gives the folder of a Debian source package as its authors published
// it, without Debian's patches.
func (l *larder) source(name, suite string) (string, error) {
	dir, err := l.keep("source", name, suite, func(dir string) error {
		o, err := l.apt()
		if err != nil {
			return err
		}
		if _, err := client(dir, "apt-get", append(o, "source", "--download-only", name+"/"+suite)...); err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.orig.tar.*"))
		if err != nil {
			return err
		}
		files = slices.DeleteFunc(files, func(f string) bool { return filepath.Ext(f) == ".asc" })
		if len(files) != 1 {
			return fmt.Errorf("%d archives of sources, want 1", len(files))
		}
		_, err = client(dir, "tar", "xf", files[0])
		return err
	})
	if err != nil {
		return "", err
	}
	return onlyFolder(dir)
}

func onlyFolder(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%s has %d folders, want 1", dir, len(found))
	}
	return found[0], nil
}

// npm gives the folder in which these packages, each NAME@VERSION, are
// installed below node_modules. Their scripts do not run.
func (l *larder) npm(packages ...string) (string, error) {
	return l.keep("npm", packages[0], strings.Join(packages, " "), func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true, "type": "module"}`),
			0o644); err != nil {
			return err
		}
		_, err := client(dir, "npm", append([]string{"install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"},
			packages...)...)
		return err
	})
}

// module gives the folder of a Go module, MODULE@VERSION, in Go's own cache.
func (l *larder) module(at string) (string, error) {
	out, err := client(l.dir, "go", "mod", "download", "-json", at)
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", fmt.Errorf("go mod download %s: %w", at, err)
	}
	return m.Dir, nil
}
