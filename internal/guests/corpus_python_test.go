package guests

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"godwit/sandbox"
	"godwit/task"
)

// reproducible makes Python order its sets the same in each run, and find its library.
var reproducible = []task.EnvVar{{Name: "PYTHONHASHSEED", Value: "0"}, {Name: "PYTHONHOME", Value: "/"}}

// pythonVersion is that of the source, and of the interpreter that helps to build it.
const pythonVersion = "3.11"

// pythonTools are Debian's, for the part of the build that runs on this machine.
func pythonTools(l *larder) (clang, host *tool, src string, err error) {
	clang, err1 := l.clang("14")
	host, err2 := l.tool("python", "14", "python"+pythonVersion, "make")
	src, err3 := l.source("python"+pythonVersion, debianSuite)
	return clang, host, src, errors.Join(err1, err2, err3)
}

// python builds CPython as its own notes on WASI say, with what wasi-libc lacks left out.
func python(l *larder) (made, error) {
	clang, host, src, err := pythonTools(l)
	if err != nil {
		return made{}, err
	}
	return l.built("python", versionOf(clang, "clang")+", -O3, "+filepath.Base(src), "", nil, func(dir string) error {
		scratch, err := os.MkdirTemp(l.dir, "python-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
		both := &tool{bin: slices.Concat(clang.bin, host.bin), lib: slices.Concat(clang.lib, host.lib)}
		if err := configurePython(both, clang, host, src, scratch); err != nil {
			return err
		}
		if err := both.run(scratch, "make", "-j2", "OPT=-DNDEBUG -fwrapv -O3 -w", "python.wasm"); err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(scratch, "python.wasm"))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, moduleFile), b, 0o644)
	})
}

func configurePython(both, clang, host *tool, src, scratch string) error {
	cc := "clang --target=wasm32-wasi --sysroot=" + filepath.Join(clang.root, "usr")
	emulate, link := "-I"+own("absent"), strings.Join(bigStack, " ")+" -Wl,--initial-memory=10485760"
	for _, e := range []string{"signal", "getpid", "process-clocks"} {
		emulate += " -D_WASI_EMULATED_" + strings.ToUpper(strings.ReplaceAll(e, "-", "_"))
		link += " -lwasi-emulated-" + e
	}
	cmd := both.command(scratch, "sh", filepath.Join(src, "configure"), "--host=wasm32-unknown-wasi", "--build="+multiarch,
		"--with-build-python="+filepath.Join(host.root, "usr", "bin", "python"+pythonVersion), "--with-suffix=.wasm",
		"--disable-ipv6", "--without-pymalloc", "--without-ensurepip", "--disable-test-modules",
		"CC="+cc, "CPP="+cc+" -E", "AR=llvm-ar", "RANLIB=llvm-ranlib", "LD=wasm-ld", "CPPFLAGS="+emulate, "LDFLAGS="+link)
	// This machine's libraries are none of the guest's.
	cmd.Env = append(cmd.Env, "PKG_CONFIG_LIBDIR=/nonexistent", "PKG_CONFIG_PATH=",
		"CONFIG_SITE="+filepath.Join(src, "Tools", "wasm", "config.site-wasm32-wasi"))
	return finish(cmd)
}

// pythonInputs are the script and the library, compiled and in one archive, in which python looks first.
func pythonInputs(l *larder) ([]sandbox.Input, error) {
	_, host, src, err := pythonTools(l)
	if err != nil {
		return nil, err
	}
	const name = "python311.zip"
	dir, err := l.keep("input", "python", filepath.Base(src), func(dir string) error {
		lib := filepath.Join(dir, "lib")
		for _, part := range []string{".", "json", "re", "collections", "encodings", "importlib"} {
			if err := copySources(filepath.Join(src, "Lib", part), filepath.Join(lib, part)); err != nil {
				return err
			}
		}
		if err := host.run(lib, "python"+pythonVersion, "-m", "compileall", "-q", "-b", "--invalidation-mode",
			"unchecked-hash", "-s", lib, "-p", "/", lib); err != nil {
			return err
		}
		if err := archive(lib, ".pyc", filepath.Join(dir, name)); err != nil {
			return err
		}
		return os.RemoveAll(lib)
	})
	return []sandbox.Input{{Name: "work.py", Path: own("work.py")},
		{Name: "lib/" + name, Path: filepath.Join(dir, name)}}, err
}

// copySources copies the Python sources of one folder.
func copySources(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.py"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(f)), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// archive stores the files that end so, uncompressed: this python has no zlib.
func archive(dir, ext, out string) error {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ext {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(rel), Method: zip.Store})
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}
