package owner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

func TestParse(t *testing.T) {
	r, err := Parse("config.yaml", []byte(`# mine
run_if_user_active: true
idle_time_to_run: 1.5   # minutes, as in BOINC
suspend_cpu_usage: 40
max_cores: 2
max_cores_busy: 12.5%
max_memory: 4 GiB
max_upload_rate: 100KiB
grace: 90s
hours:
  monday: 18:00-08:00, 12-13
  daily: never
overlays: {commons: 3, "my lab": 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.RunIfUserActive, want.IdleTimeToRun, want.SuspendCPUUsage = true, 90*time.Second, 40
	want.MaxCores, want.MaxCoresBusy, want.MaxMemory = Absolute(2), Percent(12.5), Absolute(4<<30)
	want.MaxUploadRate, want.Grace = 100<<10, 90*time.Second
	if r.Text() == want.Text() {
		t.Error("hours and overlays are not in the text")
	}
	for _, k := range []string{"run_if_user_active", "idle_time_to_run", "suspend_cpu_usage", "max_cores",
		"max_cores_busy", "max_memory", "max_upload_rate", "grace", "max_disk"} {
		got, _ := r.Get(k)
		if w, _ := want.Get(k); got != w {
			t.Errorf("%s is %s, want %s", k, got, w)
		}
	}
	for k, w := range map[string]string{"hours.monday": "18:00-08:00, 12:00-13:00", "hours.sunday": "never",
		"overlays.commons": "3", "overlays": `{commons: 3, "my lab": 1}`} {
		if got, err := r.Get(k); got != w {
			t.Errorf("%s is %s, %v, want %s", k, got, err, w)
		}
	}
	if def := Default(); def.Text() == "" {
		t.Error("the defaults have no text")
	} else if empty, err := Parse("", nil); err != nil || empty.Text() != def.Text() {
		t.Errorf("an empty file is not the defaults: %v", err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ src, at, msg, hint string }{
		{"run_if_user_activ: true", ":1:1: ", "unknown key", `did you mean "run_if_user_active"?`},
		{"# x\nrun_on_batteries: yes", ":2:19: ", "neither true nor false", "true or false"},
		{"idle_time_to_run: -1", ":1:19: ", "no duration", "minutes"},
		{"max_cores: 150%", ":1:12: ", "no percentage", "50%"},
		{"max_memory: lots", ":1:13: ", "not a size", "4GiB"},
		{"suspend_cpu_usage: .nan", ":1:20: ", "", ""},
		{"hours:\n  mnday: 8-9", ":2:3: ", "unknown key", `did you mean "monday"?`},
		{"hours:\n  monday: 9-9", ":2:11: ", "no time", "18:00-08:00"},
		{"hours: never", ":1:8: ", "mapping", ""},
		{"overlays: {a: -1}", ":1:15: ", "no share", "share"},
		{"grace: 1m\ngrace: 2m", ":2:1: ", "given twice, first in line 1", "keep one"},
		{"grace:", ":1:1: ", "no value", ""},
		{"grace: [1]", ":1:8: ", "one value", ""},
		{"a: &x 1", ":1:4: ", "plain keys", ""},
		{"- a", ":1:1: ", "mapping", ""},
		{"grace: 1m\n---\ngrace: 1m", ":3:1: ", "second document", ""},
		{"x: " + strings.Repeat("[", 100), ":1:", "nested", ""},
		{"gr\x01ace: 1", ":1:3: ", "not text", "UTF-8"},
		{"# " + strings.Repeat("x", maxFile), ":1:1: ", "the most is", ""},
	} {
		_, err := Parse("f.yaml", []byte(c.src))
		var e *task.Error
		if !errors.As(err, &e) {
			t.Errorf("%.40q: got %v, want an error with a place", c.src, err)
			continue
		}
		if !strings.HasPrefix(e.Error(), "f.yaml"+c.at) || !strings.Contains(e.Msg, c.msg) ||
			!strings.Contains(e.Hint, c.hint) {
			t.Errorf("%.40q: got %v (%s), want %q %q (%q)", c.src, e, e.Hint, c.at, c.msg, c.hint)
		}
	}
}

func TestEdit(t *testing.T) {
	const src = "# my rules\ngrace: 1m   # short\n\n# nights\nhours:\n  monday: 18-24\n  # a note\n\n# the " +
		"rest\nmax_cores: 2"
	for _, c := range []struct{ key, value, want string }{
		{"grace", "20m", strings.Replace(src, "grace: 1m   # short", "grace: 20m # short", 1)},
		{"max_cores", "50%", strings.Replace(src, "max_cores: 2", "max_cores: 50%\n", 1)},
		{"run_on_batteries", "true", src + "\nrun_on_batteries: true\n"},
		{"hours.tuesday", "never", strings.Replace(src, "  monday: 18-24\n  # a note\n",
			"  monday: \"18:00-24:00\"\n  tuesday: never\n", 1)},
		{"hours", "{friday: always}", strings.Replace(src, "  monday: 18-24\n  # a note\n", "  friday: always\n", 1)},
		{"overlays.my lab", "2", src + "\noverlays:\n  \"my lab\": 2\n"},
		{"overlays.lab", "0", src + "\noverlays:\n  lab: 0\n"},
	} {
		got, err := Edit("f", []byte(src), c.key, c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("set %s %s: %v\ngot:\n%s\nwant:\n%s", c.key, c.value, err, got, c.want)
		}
	}
	for _, c := range [][2]string{{"grase", "1m"}, {"grace", "long"}, {"hours.noday", "never"}, {"hours", "x"},
		{"grace.x", "1m"}, {"max_cores", "2\nevil: 1"}} {
		if got, err := Edit("f", []byte(src), c[0], c[1]); err == nil {
			t.Errorf("set %s %q: no error, got\n%s", c[0], c[1], got)
		}
	}
	if _, err := Edit("f", []byte("bad"), "grace", "1m"); err == nil {
		t.Error("a file that is wrong was edited")
	}
}

func TestSetReplacesTheFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "link.yaml")
	if err := os.Symlink("real.yaml", link); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(path, []byte("grace: 1m\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Set(link, "grace", "2m", Machine{}); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(path)
	info, err := os.Lstat(link)
	if string(b) != "grace: 2m\n" || err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("got %q, link %v, %v", b, info.Mode(), err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
		t.Errorf("the mode became %v", info.Mode())
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("files left: %v", left)
	}
	fresh := filepath.Join(dir, "fresh.yaml")
	if err := Set(fresh, "max_cores", "1", Machine{}); err != nil {
		t.Fatal(err)
	}
	if r, err := Load(fresh); err != nil || r.MaxCores != Absolute(1) {
		t.Errorf("got %v, %v", r.MaxCores, err)
	}
}

// A machine's name is short and plays with no terminal.
func TestName(t *testing.T) {
	for _, name := range []string{"a\x1b[2J", "a\nb", "a\u202eb", strings.Repeat("x", MaxOwnerName+1)} {
		if _, err := Edit("", nil, "name", name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

// What Text writes Parse reads back, and editing one rule changes no other.
func TestTextIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := map[string][]string{
			"run_if_user_active": {"true", "false"}, "idle_time_to_run": {"0", "3", "1h30m", "45s"},
			"suspend_cpu_usage": {"0", "33.3%"},
			"max_cores":         {"0", "3", "66%"}, "max_memory": {"0", "5%", "1234567", "3GiB"},
			"hours":    {"{}", "{monday: never}", "{daily: 22-6}"},
			"name":     {"", "a", "null", "true: #1", "- 'x' \"y\" \\", "Grüße"},
			"overlays": {"{}", "{a: 1, 'b c': 2}"}, "max_upload_rate": {"0", "12345", "1MiB"}, "grace": {"1m", "0"},
		}
		var src []byte
		for i := rapid.IntRange(0, 8).Draw(t, "edits"); i > 0; i-- {
			k := rapid.SampledFrom(Keys()).Draw(t, "key")
			if len(values[k]) == 0 {
				continue
			}
			before, err := Parse("", src)
			if err != nil {
				t.Fatal(err)
			}
			if src, err = Edit("", src, k, rapid.SampledFrom(values[k]).Draw(t, "value")); err != nil {
				t.Fatal(err)
			}
			after, err := Parse("", src)
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range Keys() {
				a, _ := before.Get(other)
				if b, _ := after.Get(other); a != b && other != k {
					t.Fatalf("setting %s changed %s from %s to %s", k, other, a, b)
				}
			}
		}
		r, err := Parse("", src)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse("", []byte(r.Text()))
		if err != nil || back.Text() != r.Text() {
			t.Fatalf("%v:\n%s\nwas read back as\n%s", err, r.Text(), back.Text())
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("grace: 1m\nhours:\n  monday: 1-2\n", "grace", "2m")
	f.Add("overlays: {a: 1}", "overlays.b", "2")
	def := Default()
	f.Add(def.Text(), "hours.daily", "22:00-06:00")
	f.Fuzz(func(t *testing.T, src, key, value string) {
		r, err := Parse("f", []byte(src))
		if err != nil {
			return
		}
		if _, err := Parse("f", []byte(r.Text())); err != nil {
			t.Fatalf("the text is not read back: %v\n%s", err, r.Text())
		}
		out, err := Edit("f", []byte(src), key, value)
		if err != nil {
			return
		}
		if _, err := Parse("f", out); err != nil {
			t.Fatalf("after an edit: %v\n%s", err, out)
		}
	})
}

func TestHours(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Madrid")
	if err != nil {
		t.Skip(err)
	}
	r, err := Parse("", []byte("hours: {monday: '18:00-08:00', tuesday: '12-13,13-14', sunday: never, wednesday: "+
		"'0:30-24:00'}"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", s, zone)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		now  string
		open bool
		next string
	}{
		{"2026-11-22 10:00", false, "2026-11-23 18:00"}, // a Sunday: never, and Monday until six
		{"2026-11-23 17:59", false, "2026-11-23 18:00"},
		{"2026-11-23 18:00", true, "2026-11-24 08:00"}, // into Tuesday
		{"2026-11-24 09:00", false, "2026-11-24 12:00"},
		{"2026-11-24 12:30", true, "2026-11-24 14:00"}, // two spans that touch are one
		{"2026-11-24 14:00", false, "2026-11-25 00:30"},
		{"2026-11-26 03:00", true, "2026-11-29 00:00"}, // Thursday to Saturday are free
		{"2026-03-28 12:00", true, "2026-03-29 00:00"}, // the clock goes forward on the 29th
	} {
		if open, next := r.Hours.Open(at(c.now)), r.Hours.Next(at(c.now)); open != c.open || !next.Equal(at(c.next)) {
			t.Errorf("%s: open %v, next %v; want %v, %s", c.now, open, next, c.open, c.next)
		}
	}
	if h := (Hours{}); !h.Open(at("2026-11-22 10:00")) || !h.Next(at("2026-11-22 10:00")).IsZero() || !h.Always() {
		t.Error("the zero value is not every hour")
	}
}
