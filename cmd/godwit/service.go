package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/internal/service"
	"godwit/lab/table"
)

// serviceFlags name a node that the system starts.
type serviceFlags struct {
	dataDir        string
	system, linger bool
}

func newService() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Have the system start a node: for you when you log in, or for the whole machine",
	}
	for _, sub := range []*cobra.Command{newServiceInstall(), newServiceRemove(), newServiceStatus()} {
		sub.Args = explained(sub.Args)
		cmd.AddCommand(sub)
	}
	return cmd
}

func (f *serviceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dataDir, "data-dir", defaultDataDir(),
		"`DIR` where the node keeps its data (with --system "+service.StateDir+")")
	cmd.Flags().BoolVar(&f.system, "system", false,
		"for the whole machine, as a user of its own: as root, on Linux; such a node sees no keyboard and no mouse")
}

func newServiceInstall() *cobra.Command {
	var f serviceFlags
	cmd := &cobra.Command{
		Use:   "install [-- FLAG-OF-UP...]",
		Short: "Start a node now, and whenever you log in or the machine starts",
		Long: `Start a node now, and whenever you log in: by a systemd unit of yours on Linux, an agent of launchd on macOS, a
scheduled task on Windows. Done again, it changes nothing, or takes over what changed. What follows -- are
flags of ` + "`godwit up`" + `.`,
		Example: `  godwit service install
  godwit service install --linger -- --overlay lab
  sudo godwit service install --system`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := f.manager(cmd, args)
			if err != nil {
				return err
			}
			changed, err := m.Install(cmd.Context())
			if err != nil {
				return serviceFailure(err)
			}
			if !changed {
				fmt.Fprintf(cmd.OutOrStdout(), "The service is installed already: %s\n", m.File())
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The node runs, and is started by the system from now on: %s\n%s", m.File(), f.logs())
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.linger, "linger", false,
		"on Linux: run also while you are logged out, from the machine's start on")
	return cmd
}

func newServiceRemove() *cobra.Command {
	var f serviceFlags
	cmd := &cobra.Command{
		Use:   "remove",
		Short: "Stop the node, and have the system start it no more; its data stays",
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := f.manager(cmd, nil)
			if err != nil {
				return err
			}
			found, err := m.Remove(cmd.Context())
			if err != nil {
				return serviceFailure(err)
			}
			if !found {
				fmt.Fprintln(cmd.OutOrStdout(), "No service is installed.")
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The service is removed. Its data stays where it was kept (%s, unless it was "+
				"installed with another --data-dir): delete it by hand to forget the node.\n", f.dataDir)
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func newServiceStatus() *cobra.Command {
	var f serviceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Whether the service is installed, starts by itself, and runs",
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := f.manager(cmd, nil)
			if err != nil {
				return err
			}
			s, err := m.Status(cmd.Context())
			if err != nil {
				return serviceFailure(err)
			}
			if asJSON {
				return table.JSON(cmd.OutOrStdout(), s)
			}
			yes := map[bool]string{true: "yes", false: "no"}
			fmt.Fprintf(cmd.OutOrStdout(), "installed  %s\nenabled    %s\nrunning    %s\nfile       %s\n",
				yes[s.Installed], yes[s.Enabled], yes[s.Running], s.File)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// logs says where the node's log is to be read.
func (f *serviceFlags) logs() string {
	switch {
	case runtime.GOOS == "darwin":
		return "Its log is ~/Library/Logs/godwit.log.\n"
	case runtime.GOOS == "windows":
		return "Its log is not kept.\n"
	case f.system:
		return "Its log: journalctl -u godwit\nAsk it as root: godwit status --data-dir " + f.dataDir + "\n"
	case f.linger:
		return "Its log: journalctl --user -u godwit\n"
	}
	return "Its log: journalctl --user -u godwit\nIt ends when you log out: --linger has it stay.\n"
}

// manager plans the service, on this system.
func (f *serviceFlags) manager(cmd *cobra.Command, args []string) (*service.Manager, error) {
	if f.system && !cmd.Flags().Changed("data-dir") {
		f.dataDir = service.StateDir
	}
	if f.system && f.dataDir != service.StateDir {
		return nil, failure.Usage("leave --data-dir out", "with --system the data lies in %s", service.StateDir)
	}
	s := service.Spec{Args: args, System: f.system, Linger: f.linger, UID: os.Getuid()}
	var err error
	if s.Program, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	if s.DataDir, err = filepath.Abs(f.dataDir); err != nil {
		return nil, fmt.Errorf("finding the data directory: %w", err)
	}
	if s.Home, err = os.UserHomeDir(); err != nil && !f.system {
		return nil, fmt.Errorf("finding your home directory: %w", err)
	}
	if s.Config, err = os.UserConfigDir(); err != nil && !f.system {
		return nil, fmt.Errorf("finding your configuration: %w", err)
	}
	if cmd.Name() == "install" {
		if err := f.able(&s); err != nil {
			return nil, err
		}
	}
	m, err := service.For(runtime.GOOS, s)
	if err != nil {
		return nil, failure.Usage("have your system start `godwit up` in its own way", "%w", err)
	}
	return m, nil
}

// able refuses a service that could not start: bad flags, or a program in a place that does not last.
func (f *serviceFlags) able(s *service.Spec) error {
	up := newUp()
	if err := up.ParseFlags(s.Args); err != nil {
		return failure.Usage("`godwit up --help` lists the flags", "flags of up: %w", err)
	}
	if rest := up.Flags().Args(); len(rest) > 0 {
		return failure.Usage("flags of `godwit up` follow --, as in: godwit service install -- --overlay lab",
			"%q is no flag of up", rest[0])
	}
	if up.Flags().Changed("data-dir") {
		return failure.Usage("give --data-dir before --", "--data-dir stands behind --")
	}
	if !f.system {
		return nil
	}
	if os.Geteuid() != 0 {
		return failure.Usage("use sudo, or leave --system out", "--system is for root")
	}
	for _, dir := range service.PackagedDirs() {
		if _, err := os.Stat(filepath.Join(dir, service.Unit)); err == nil {
			return failure.Usage("systemctl enable --now godwit", "a package brought a service of the machine: %s", dir)
		}
	}
	for _, hidden := range []string{"/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"} {
		if strings.HasPrefix(s.Program, hidden) {
			return failure.Usage("sudo install "+s.Program+" /usr/local/bin/godwit, and use that one",
				"the service could not read %s: it sees nothing of %s", s.Program, hidden)
		}
	}
	return nil
}

// serviceFailure says how to go on where the system refused.
func serviceFailure(err error) error {
	f := &failure.Error{Code: failure.ExitFailed, Err: err}
	switch {
	case errors.Is(err, service.ErrForeign):
		f.Hint = "move the file away, or keep it and manage the service with the system's own commands"
	case errors.Is(err, os.ErrPermission):
		f.Hint = "the whole machine's service is for root: use sudo"
	case errors.Is(err, context.Canceled):
	default:
		f.Hint = "nothing was changed; log in to the machine itself (not by su), and see what `systemctl --user status` says"
		if runtime.GOOS != "linux" {
			f.Hint = "nothing was changed; `godwit up` runs a node without the system's help"
		}
	}
	return f
}
