package service_test

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"godwit/internal/service"
)

var update = flag.Bool("update", false, "write the golden files anew")

func spec() service.Spec {
	return service.Spec{
		Program: "/opt/my apps/godwit", DataDir: "/home/eve/5% \"of\" $HOME", Args: []string{"--overlay", "a<b&c", `x\y\`},
		Home: "/home/eve", Config: "/home/eve/.config", UID: 501,
	}
}

// TestTexts holds what each system is told; that of launchd and of Windows was tried on none.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		golden, goos string
		system       bool
	}{
		{"systemd-user", "linux", false},
		{"systemd-system", "linux", true},
		{"launchd", "darwin", false},
		{"windows", "windows", false},
	} {
		t.Run(c.golden, func(t *testing.T) {
			s := spec()
			s.System = c.system
			m, err := service.For(c.goos, s)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", c.golden)
			if *update {
				if err := os.WriteFile(golden, []byte(m.Text()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if m.Text() != string(want) {
				t.Errorf("the text is not that of %s (-update writes it anew):\n%s", golden, m.Text())
			}
			if c.goos != "linux" {
				wellFormed(t, m.Text())
			}
		})
	}
}

// TestPackagedUnit holds the unit that packages bring, which systemd itself reads where it is installed.
func TestPackagedUnit(t *testing.T) {
	golden := filepath.Join("..", "..", "packaging", service.Unit)
	text := service.Packaged()
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || text != string(want) {
		t.Errorf("the unit is not that of %s (-update writes it anew), %v:\n%s", golden, err, text)
	}
	if strings.Contains(text, "DynamicUser") || strings.Contains(text, "service install") {
		t.Errorf("it is not the package's own:\n%s", text)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	file := filepath.Join(t.TempDir(), service.Unit)
	program, err := exec.LookPath("true") // systemd looks whether the program is there
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, service.PackagedProgram, program, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput()
	if strings.Contains(string(out), file) {
		t.Errorf("systemd says %s", out)
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnitsVerify has systemd itself read the units.
func TestUnitsVerify(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	program, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []bool{false, true} {
		s := spec()
		s.Program, s.System = program, system
		m, err := service.For("linux", s)
		if err != nil {
			t.Fatal(err)
		}
		// Further words are systemd's own matter; a line that it does not know has to be told.
		for _, c := range []struct {
			text  string
			right bool
		}{{m.Text(), true}, {strings.Replace(m.Text(), "KillMode=mixed", "KillMode=perhaps", 1), false}} {
			file := filepath.Join(t.TempDir(), service.Unit)
			if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			args := []string{"verify", "--man=no", file}
			if !system {
				args = slices.Insert(args, 0, "--user")
			}
			cmd := exec.Command(analyze, args...)
			cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
			out, _ := cmd.CombinedOutput()
			if told := strings.Contains(string(out), file); told == c.right {
				t.Errorf("system %v, right %v: systemd says %s", system, c.right, out)
			}
		}
	}
}

// A recorder stands for the system's manager.
type recorder struct {
	said []string
	fail string // refuses commands that begin so
}

func (r *recorder) do(_ context.Context, argv []string) error {
	line := strings.Join(argv, " ")
	r.said = append(r.said, line)
	if r.fail != "" && strings.HasPrefix(line, r.fail) {
		return errors.New("refused")
	}
	return nil
}

func installed(t *testing.T, change func(*service.Spec)) (*service.Manager, *recorder) {
	t.Helper()
	s := spec()
	change(&s)
	m, err := service.For("linux", s)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	m.Do = r.do
	return m, r
}

func TestInstallTwiceAndRemove(t *testing.T) {
	home := t.TempDir()
	at := func(s *service.Spec) { s.Config, s.Linger = home, true }
	m, r := installed(t, at)
	for i, want := range [][]string{
		{"systemctl --user daemon-reload", "systemctl --user enable godwit.service",
			"systemctl --user restart godwit.service",
			"loginctl enable-linger"},
		{"systemctl --user enable --now godwit.service", "loginctl enable-linger"},
	} {
		r.said = nil
		changed, err := m.Install(t.Context())
		if err != nil || changed != (i == 0) {
			t.Fatalf("installation %d: changed %v, %v", i, changed, err)
		}
		if !slices.Equal(r.said, want) {
			t.Errorf("installation %d: said %q, want %q", i, r.said, want)
		}
	}
	if s, err := m.Status(t.Context()); err != nil || !s.Installed || !s.Enabled || !s.Running {
		t.Errorf("status %+v, %v", s, err)
	}
	r.fail = "systemctl" // a manager that is gone does not keep the file there
	if found, err := m.Remove(t.Context()); err != nil || !found {
		t.Errorf("removed %v, %v", found, err)
	}
	if found, err := m.Remove(t.Context()); err != nil || found {
		t.Errorf("removed again %v, %v", found, err)
	}
	if _, err := os.Stat(m.File()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unit is left: %v", err)
	}
}

// TestRefusedInstall leaves what was there before.
func TestRefusedInstall(t *testing.T) {
	home := t.TempDir()
	m, r := installed(t, func(s *service.Spec) { s.Config = home })
	r.fail = "systemctl --user restart"
	if _, err := m.Install(t.Context()); err == nil {
		t.Fatal("a refusal went unnoticed")
	}
	if _, err := os.Stat(m.File()); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the unit is left: %v", err)
	}
	r.fail = ""
	if _, err := m.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, r := installed(t, func(s *service.Spec) { s.Config, s.Args = home, []string{"--cores", "1"} })
	r.fail = "systemctl --user restart"
	if _, err := next.Install(t.Context()); err == nil {
		t.Fatal("a refusal went unnoticed")
	}
	if b, err := os.ReadFile(m.File()); err != nil || string(b) != m.Text() {
		t.Errorf("the unit of before is not there: %s, %v", b, err)
	}
}

func TestForeignFile(t *testing.T) {
	home := t.TempDir()
	m, r := installed(t, func(s *service.Spec) { s.Config = home })
	if err := os.MkdirAll(filepath.Dir(m.File()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.File(), []byte("[Service]\nExecStart=/mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := m.Install(t.Context())
	_, gone := m.Remove(t.Context())
	if !errors.Is(err, service.ErrForeign) || !errors.Is(gone, service.ErrForeign) || len(r.said) > 0 {
		t.Errorf("install %v, remove %v, said %q", err, gone, r.said)
	}
}

// TestHostileWords has no argument become a line of the unit.
func TestHostileWords(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		s := spec()
		s.Args = []string{"--site", "x\nExecStartPre=/bin/evil"}
		if _, err := service.For(goos, s); !errors.Is(err, service.ErrBadWord) {
			t.Errorf("%s: %v", goos, err)
		}
	}
	s := spec()
	s.System = true
	for _, goos := range []string{"darwin", "windows", "plan9"} {
		if _, err := service.For(goos, s); !errors.Is(err, service.ErrUnsupported) {
			t.Errorf("%s: %v", goos, err)
		}
	}
}
