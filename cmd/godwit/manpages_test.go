package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

var manDir = flag.String("man", "", "write the man pages into this directory, for packages")

// TestManPages: every verb has a man page that names its flags, which man reads without a word where it is installed.
// The pages are of the time in SOURCE_DATE_EPOCH.
func TestManPages(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "$XDG_DATA_HOME") // the defaults name it
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	if os.Getenv("SOURCE_DATE_EPOCH") == "" {
		t.Setenv("SOURCE_DATE_EPOCH", "0")
	}
	home, _ := os.UserHomeDir()
	root := newRoot()
	root.InitDefaultHelpCmd()
	root.DisableAutoGenTag = true
	header := doc.GenManHeader{Title: "GODWIT", Section: "1", Source: "Godwit", Manual: "Godwit"}
	if err := doc.GenManTree(root, &header, dir); err != nil {
		t.Fatal(err)
	}
	man, _ := exec.LookPath("mandoc")
	pages := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		file := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			return
		}
		pages++
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(string(text), "--"+f.Name) {
				t.Errorf("%s does not name --%s", file, f.Name)
			}
		})
		if len(home) > 1 && strings.Contains(string(text), home+"/") {
			t.Errorf("%s tells of who made it", file)
		}
		if man != "" && pages == 1 {
			if out, err := exec.Command(man, "-T", "lint", "-W", "error", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v %s", file, err, out)
			}
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				look(sub)
			}
		}
	}
	look(root)
	if pages < 60 {
		t.Errorf("%d pages", pages)
	}
}
