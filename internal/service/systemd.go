package service

import (
	"path/filepath"
	"strings"
)

// Unit is the name of the service for systemd.
const Unit = "godwit.service"

// SystemDir is where units of the machine's administrator lie; PackagedDirs are those of packages.
const SystemDir = "/etc/systemd/system"

// PackagedDirs are where packages put their units.
func PackagedDirs() []string { return []string{"/usr/lib/systemd/system", "/lib/systemd/system"} }

// StateDir is where a node of the whole machine keeps its data: systemd makes it from StateDirectory.
const StateDir = "/var/lib/godwit"

// A node that ends by SIGTERM hands over what it runs: 90 s is systemd's own default, said here since it matters.
// Its sandboxes are not told themselves (mixed): the node ends them. It starts again after a crash, but not when
// its flags or rules are refused (exit code 2). With Delegate the kernel holds the caps on cores and memory
// (owner.Cage).
// There is no MemoryDenyWriteExecute: the compiler of tasks writes
// the code that it runs.
const started = `Type=exec
ExecStart=EXEC
Delegate=cpu memory pids
KillMode=mixed
TimeoutStopSec=90
Restart=on-failure
RestartSec=10
RestartPreventExitStatus=2
`

const userUnit = `# Written by ` + "`" + mark + "`" + `, which writes it anew.
[Unit]
Description=Godwit: lends idle time to others' tasks
Documentation=man:godwit(1)

[Service]
` + started + `
[Install]
WantedBy=default.target
`

// The user exists as long as the service runs, if no user is called so; the data stays.
const systemUnit = `# Written by ` + "`" + mark + "`" + `, which writes it anew.
[Unit]
Description=Godwit: lends idle time to others' tasks
Documentation=man:godwit(1)
Wants=network-online.target
After=network-online.target

[Service]
` + started + `User=godwit
DynamicUser=yes
StateDirectory=godwit
StateDirectoryMode=0700
UMask=0077
ProtectHome=yes
ProtectKernelModules=yes
PrivateTmp=yes
LockPersonality=yes
RestrictSUIDSGID=yes

[Install]
WantedBy=multi-user.target
`

// PackagedProgram is where packages put the program.
const PackagedProgram = "/usr/bin/godwit"

// Packaged is the unit of the machine as packages bring it: as that which is written here, but with the user that the
// package makes, who stays as long as it is installed.
func Packaged() string {
	s := Spec{Program: PackagedProgram, DataDir: StateDir, System: true}
	return strings.NewReplacer("# Written by `"+mark+"`, which writes it anew.\n", "",
		"DynamicUser=yes\n", "Group=godwit\n").Replace(systemd(&s).text)
}

// systemd plans a unit of the user or of the machine.
func systemd(s *Spec) plan {
	dir, text, ctl := filepath.Join(s.Config, "systemd", "user"), userUnit, []string{"systemctl", "--user"}
	if s.System {
		dir, text, ctl = SystemDir, systemUnit, []string{"systemctl"}
	}
	tell := func(words ...string) []string { return append(ctl[:len(ctl):len(ctl)], words...) }
	p := plan{
		file:    filepath.Join(dir, Unit),
		text:    strings.Replace(text, "EXEC", commandLine(s.words()), 1),
		reload:  tell("daemon-reload"),
		start:   [][]string{tell("enable", "--now", Unit)},
		restart: [][]string{tell("enable", Unit), tell("restart", Unit)},
		stop:    [][]string{tell("disable", "--now", Unit)},
		enabled: tell("is-enabled", "--quiet", Unit),
		active:  tell("is-active", "--quiet", Unit),
	}
	if s.Linger && !s.System {
		linger := []string{"loginctl", "enable-linger"}
		p.start, p.restart = append(p.start, linger), append(p.restart, linger)
	}
	return p
}

// commandLine writes words so that systemd reads them as they are: %% and $$ stand for themselves.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$")
	program := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%") // $ is nothing special in the first word
	for i, w := range words {
		if i == 0 {
			quoted[i] = `"` + program.Replace(w) + `"`
			continue
		}
		quoted[i] = `"` + escape.Replace(w) + `"`
	}
	return strings.Join(quoted, " ")
}
