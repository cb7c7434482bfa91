package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

const root = "../.."

// TestArchivesAreEqual: the same files come to the same bytes, whatever their times and modes are.
func TestArchivesAreEqual(t *testing.T) {
	at := []string{"-epoch", "1795700000"}
	made := map[string][][]byte{}
	for i, mode := range []os.FileMode{0o700, 0o755} {
		dir := filepath.Join(t.TempDir(), "godwit-0.2.0")
		for name, m := range map[string]os.FileMode{"godwit": mode, "man/godwit.1": mode &^ 0o111, "a": 0o600} {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), m),
				os.Chtimes(path, time.Time{}, time.Unix(int64(1e9+i), 0))); err != nil {
				t.Fatal(err)
			}
		}
		for _, kind := range []string{".zip", ".tar.gz"} {
			out := filepath.Join(t.TempDir(), "x"+kind)
			if err := run(append(at, "archive", dir, out)); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			made[kind] = append(made[kind], b)
		}
	}
	want := []string{"godwit-0.2.0/a -rw-r--r--", "godwit-0.2.0/godwit -rwxr-xr-x", "godwit-0.2.0/man/godwit.1 -rw-r--r--"}
	for kind, read := range map[string]func(*testing.T, []byte) []string{".zip": namesInZip, ".tar.gz": namesInTar} {
		if !bytes.Equal(made[kind][0], made[kind][1]) {
			t.Errorf("two archives %s of the same files differ", kind)
		}
		if got := read(t, made[kind][0]); !slices.Equal(got, want) {
			t.Errorf("%s holds %q, want %q", kind, got, want)
		}
	}
	for _, args := range [][]string{nil, {"archive"}, {"archive", t.TempDir(), filepath.Join(t.TempDir(), "x.rar")},
		{"pack", "a", "b"}} {
		if err := run(args); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func namesInZip(t *testing.T, b []byte) (names []string) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		names = append(names, f.Name+" "+f.Mode().String())
	}
	return names
}

func namesInTar(t *testing.T, b []byte) (names []string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Uname != "" {
			t.Errorf("%s belongs to %d %s", h.Name, h.Uid, h.Uname)
		}
		names = append(names, h.Name+" "+h.FileInfo().Mode().String())
	}
}

// TestBillOfMaterials: it names each module that a program was linked from, once, and what stands in for another.
func TestBillOfMaterials(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Settings: []debug.BuildSetting{{Key: "-trimpath", Value: "true"}},
		Deps: []*debug.Module{{Path: "example.org/z", Version: "v1.2.0", Sum: "h1:z="},
			{Path: "example.org/a", Version: "v0.1.0", Replace: &debug.Module{Path: "example.org/b", Version: "v0.3.0"}}}}
	b := bomOf(info, "0.2.0", sha256.Sum256(nil), time.Unix(1795700000, 0).UTC())
	var refs []string
	for _, c := range b.Components {
		refs = append(refs, c.Ref)
	}
	want := []string{"pkg:golang/example.org/b@v0.3.0", "pkg:golang/example.org/z@v1.2.0", "pkg:golang/std@1.26.8"}
	if !slices.Equal(refs, want) || !slices.Equal(b.Dependencies[0].On, want) {
		t.Errorf("it names %q, and %+v; want %q", refs, b.Dependencies, want)
	}
	// Of a file, it is the same document.
	out := filepath.Join(t.TempDir(), "x.cdx.json")
	if err := run([]string{"-version", "0.2.0", "-epoch", "1795700000", "bom", os.Args[0], out}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var read bom
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	self := read.Metadata.Component
	if read.Format != "CycloneDX" || read.Metadata.Timestamp != "2026-11-26T13:33:20Z" || self.Version != "0.2.0" ||
		len(self.Hashes) != 1 || len(self.Hashes[0].Content) != 64 || len(self.Properties) == 0 {
		t.Errorf("it says %+v", read.Metadata)
	}
	if err := run([]string{"bom", filepath.Join(root, "go.mod"), out}); err == nil {
		t.Error("a bill of what is no program")
	}
}

// TestPackageFiles: what the packages are said to hold is in the project, or made by scripts/package, and no two of a
// package's files have one place.
func TestPackageFiles(t *testing.T) {
	text, err := os.ReadFile(root + "/packaging/nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Contents []struct {
			Src, Dst, Packager string
			Expand             bool
		}
		Scripts map[string]string
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(root + "/scripts/package")
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]bool{}
	for _, c := range config.Contents {
		if places[c.Dst+c.Packager] || places[c.Dst] {
			t.Errorf("two files for %s", c.Dst)
		}
		places[c.Dst+c.Packager] = true
		made, isMade := strings.CutPrefix(c.Src, "${STAGE}/")
		if isMade != c.Expand {
			t.Errorf("%s: expand is %v", c.Src, c.Expand)
		}
		if isMade {
			if !strings.Contains(string(script), strings.TrimSuffix(filepath.Base(made), ".gz")) {
				t.Errorf("scripts/package does not make %s", made)
			}
		} else if _, err := os.Stat(filepath.Join(root, c.Src)); err != nil {
			t.Error(err)
		}
	}
	if len(config.Contents) < 8 || len(config.Scripts) != 3 {
		t.Errorf("%d files and %d scripts were read", len(config.Contents), len(config.Scripts))
	}
	for _, s := range config.Scripts {
		if out, err := exec.Command("sh", "-n", filepath.Join(root, s)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", s, err, out)
		}
	}
}
