package sandbox

import (
	"math"
	"testing"

	"godwit/task"
)

// oddCustoms are custom sections that an engine could trip over. None of them makes a module invalid.
func oddCustoms() map[string][]byte {
	custom := func(name string, data ...byte) []byte {
		body := append(text(name), data...)
		return cat([]byte{0}, leb(uint64(len(body))), body)
	}
	names := func(data ...byte) []byte { return custom("name", data...) }
	many := leb(math.MaxUint32)
	return map[string][]byte{
		"2^32-1 functions":        names(cat([]byte{1, 5}, many)...),
		"2^32-1 locals":           names(cat([]byte{2, 7, 1, 0}, many)...),
		"2^32-1 functions' local": names(cat([]byte{2, 5}, many)...),
		"300 million functions":   names(cat([]byte{1, 5}, leb(300_000_000))...),
		"name that is not UTF-8":  names(1, 6, 1, 0, 3, 0xff, 0xfe, 0xfd),
		"two name sections":       cat(names(0, 2, 1, 'm'), names(0, 2, 1, 'n')),
		"cut in a name":           names(1, 4, 1, 0, 9, 'f'),
		"longer subsection":       names(1, 100, 1, 0, 1, 'f'),
		"longer number":           names(1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80),
		"unknown subsection":      names(0x7f, 1, 0),
		"2^32-1 features":         custom("target_features", many...),
		"empty":                   custom(""),
	}
}

// A module runs, whatever its custom sections contain, freezable or not.
func TestCustomSectionsDoNotMatter(t *testing.T) {
	p := newTestPool(t)
	fixed := unfreezable(t)
	for name, odd := range oddCustoms() {
		whole := printer.bytes()
		for _, wasm := range [][]byte{cat(whole, odd), cat(whole[:8], odd, whole[8:])} {
			if err := CheckModule(wasm); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := Inspect(wasm); err != nil {
				t.Errorf("inspecting a module with %s: %v", name, err)
			}
		}
		if rep := run(t, p, moduleTask(t, cat(exit(3).bytes(), odd), name)); rep.Outcome != task.ExitFailure {
			t.Errorf("%s: got %v %s, want the program's own end", name, rep.Outcome, rep.Message)
		}
		tk := moduleTask(t, cat(fixed, odd), name)
		tk.Checkpoint.Off = true
		if rep := run(t, p, tk); rep.Outcome != task.Completed {
			t.Errorf("%s, unfreezable: got %v %s", name, rep.Outcome, rep.Message)
		}
	}
}
