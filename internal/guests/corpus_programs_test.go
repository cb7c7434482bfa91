package guests

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"godwit/sandbox"
	"godwit/task"
)

// A foreign is a program in C that was written without this project in mind:
// where its sources come from and how they are built.
type foreign struct {
	name    string
	recipe  func(l *larder) (cProgram, error)
	inputs  func(l *larder) ([]sandbox.Input, error)
	env     []task.EnvVar
	quick   []string // some hundredths of a second
	long    []string // a second or so
	measure []string // for the overhead; nil for long
}

// own is the absolute name of a file of ours.
func own(name string) string {
	p, err := filepath.Abs(filepath.Join(corpusDir, name))
	if err != nil {
		panic(err) // there is no working directory
	}
	return p
}

// scripts gives files of ours as inputs, under their own names.
func scripts(names ...string) func(*larder) ([]sandbox.Input, error) {
	return func(*larder) ([]sandbox.Input, error) {
		var in []sandbox.Input
		for _, n := range names {
			in = append(in, sandbox.Input{Name: n, Path: own(n)})
		}
		return in, nil
	}
}

// scale makes the table that work.sql reads.
func scale(customers string) string { return "create table scale as select " + customers + " as n" }

var foreigners = []foreign{
	{
		name: "quickjs", recipe: quickjs, inputs: scripts("work.js"),
		quick: []string{"work.js", "1"}, long: []string{"work.js", "100"},
	},
	{
		name: "lua", recipe: lua, inputs: scripts("work.lua"),
		quick: []string{"work.lua", "1"}, long: []string{"work.lua", "200"},
	},
	{
		// In a file for moves, which then move it too; in memory for the overhead,
		// since plain wazero asks the kernel for each page of a file.
		name: "sqlite", recipe: sqlite, inputs: scripts("work.sql"),
		quick:   []string{"work.db", scale("10"), "@work.sql"},
		long:    []string{"work.db", scale("2000"), "@work.sql"},
		measure: []string{":memory:", scale("3000"), "@work.sql"},
	},
	{name: "zstd", recipe: zstd, inputs: text, quick: []string{"-q", "-c", "-3", "--single-thread", "short"},
		long: []string{"-q", "-c", "-12", "--single-thread", "text"}},
	{name: "bzip2", recipe: bzip2, inputs: text, quick: []string{"-k", "-c", "-1", "short"},
		long: []string{"-k", "-c", "-9", "text"}},
	{name: "minigzip", recipe: minigzip, inputs: text, quick: []string{"-c", "-6", "short"},
		long: []string{"-c", "-9", "text"}},
}

// glob lists the sources of a folder relative to it, except those named.
func glob(dir string, patterns []string, except ...string) ([]string, error) {
	var found []string
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join(dir, p))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			rel, err := filepath.Rel(dir, f)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(except, rel) {
				found = append(found, rel)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// quickjs has no host for WASI, so it gets one of ours; EMSCRIPTEN chooses
// the switch in place of computed gotos, and leaves out threads.
func quickjs(l *larder) (cProgram, error) {
	dir, err := l.source("quickjs", laterSuite)
	return cProgram{
		dir: dir, absent: true,
		sources: []string{own("javascript.c"), "quickjs.c", "libregexp.c", "libunicode.c", "cutils.c", "dtoa.c"},
		flags:   []string{"-DEMSCRIPTEN", "-D_GNU_SOURCE", `-DCONFIG_VERSION="1"`, "-I."},
	}, err
}

func lua(l *larder) (cProgram, error) {
	dir, err := l.source("lua5.4", debianSuite)
	if err != nil {
		return cProgram{}, err
	}
	src := filepath.Join(dir, "src")
	files, err := glob(src, []string{"*.c"}, "luac.c")
	return cProgram{dir: src, absent: true, sources: files, flags: []string{"-DLUA_COMPAT_5_3"}}, err
}

// sqliteModule bundles SQLite's amalgamation.
const sqliteModule = "github.com/mattn/go-sqlite3@v1.14.28"

func sqlite(l *larder) (cProgram, error) {
	dir, err := l.module(sqliteModule)
	return cProgram{
		dir: dir, absent: true,
		sources: []string{own("database.c"), "sqlite3-binding.c"},
		flags: []string{"-I.", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_OMIT_WAL",
			"-DSQLITE_MAX_MMAP_SIZE=0"},
	}, err
}

func zstd(l *larder) (cProgram, error) {
	dir, err := l.source("libzstd", debianSuite)
	if err != nil {
		return cProgram{}, err
	}
	files, err := glob(dir, []string{"lib/common/*.c", "lib/compress/*.c", "lib/decompress/*.c", "lib/dictBuilder/*.c",
		"programs/*.c"})
	return cProgram{
		dir: dir, absent: true, sources: files,
		flags: []string{"-Ilib", "-Ilib/common", "-DZSTD_DISABLE_ASM", "-DZSTD_LEGACY_SUPPORT=0", "-DXXH_NAMESPACE=ZSTD_"},
	}, err
}

func bzip2(l *larder) (cProgram, error) {
	dir, err := l.source("bzip2", debianSuite)
	return cProgram{
		dir: dir, absent: true,
		sources: []string{"blocksort.c", "huffman.c", "crctable.c", "randtable.c", "compress.c", "decompress.c", "bzlib.c",
			"bzip2.c"},
		flags: []string{"-D_FILE_OFFSET_BITS=64"},
	}, err
}

func minigzip(l *larder) (cProgram, error) {
	dir, err := l.source("zlib", debianSuite)
	if err != nil {
		return cProgram{}, err
	}
	files, err := glob(dir, []string{"*.c", "test/minigzip.c"})
	return cProgram{dir: dir, absent: true, sources: files, flags: []string{"-I.", "-include", "unistd.h"}}, err
}

// What is compressed: words with numbers among them, always the same.
const (
	textBytes  = 3_000_000
	shortBytes = 20_000
)

// text writes it in two sizes.
func text(l *larder) ([]sandbox.Input, error) {
	const version = "1" // of what words makes
	dir, err := l.keep("input", "text", version, func(dir string) error {
		b := words(textBytes)
		if err := os.WriteFile(filepath.Join(dir, "text"), b, 0o644); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "short"), b[:shortBytes], 0o644)
	})
	return []sandbox.Input{{Name: "text", Path: filepath.Join(dir, "text")},
		{Name: "short", Path: filepath.Join(dir, "short")}}, err
}

func words(n int) []byte {
	var b strings.Builder
	syllables := []string{"ka", "lo", "mi", "tur", "pen", "sa", "do", "rel", "ne", "ta", "ri", "xon", "", "sh", "el", "o"}
	seed := uint64(1)
	for b.Len() < n {
		seed = seed*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
		b.WriteString(syllables[seed>>60])
		b.WriteString(syllables[seed>>56&15])
		if seed>>50&31 == 0 {
			b.WriteString("\n")
		} else {
			b.WriteString(" ")
		}
	}
	return []byte(b.String()[:n])
}
