package service

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
)

// label is the name of the agent for launchd, and taskName that of the scheduled task.
const (
	label    = "network.godwit.node"
	taskName = "Godwit"
)

// launchd plans an agent of the user, which sees keyboard and mouse as a daemon does not. It is untried.
func launchd(s *Spec) plan {
	domain := fmt.Sprintf("gui/%d", s.UID)
	file := filepath.Join(s.Home, "Library", "LaunchAgents", label+".plist")
	var words strings.Builder
	for _, w := range s.words() {
		fmt.Fprintf(&words, "    <string>%s</string>\n", escaped(w))
	}
	text := `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by ` + mark + `, which writes it anew. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>` + label + `</string>
  <key>ProgramArguments</key>
  <array>
` + words.String() + `  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>90</integer>
  <key>StandardOutPath</key>
  <string>` + escaped(logOf(s)) + `</string>
  <key>StandardErrorPath</key>
  <string>` + escaped(logOf(s)) + `</string>
</dict>
</plist>
`
	load, name := []string{"launchctl", "bootstrap", domain, file}, domain+"/"+label
	return plan{
		file:  file,
		text:  text,
		start: [][]string{{"launchctl", "enable", name}, {"launchctl", "kickstart", name}},
		// A label that is loaded has to go before it is loaded anew; where none is, that fails: launchctl remove does not.
		restart: [][]string{{"launchctl", "remove", label}, {"launchctl", "enable", name}, load},
		stop:    [][]string{{"launchctl", "bootout", name}},
		enabled: []string{"launchctl", "print", name},
		active:  []string{"pgrep", "-f", s.Program + " up"},
	}
}

func logOf(s *Spec) string { return filepath.Join(s.Home, "Library", "Logs", "godwit.log") }

// schedule plans a task of Windows at the user's logon: a service of Windows does not see keyboard and mouse. The
// text is kept beside the data, since the system takes it from a file once. It is untried.
func schedule(s *Spec) plan {
	words := s.words()
	args := make([]string, len(words)-1)
	for i, w := range words[1:] {
		args[i] = windowsWord(w)
	}
	text := `<?xml version="1.0"?>
<!-- Written by ` + mark + `, which writes it anew. -->
<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers>
    <LogonTrigger><Enabled>true</Enabled></LogonTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>5</Count></RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>` + escaped(s.Program) + `</Command>
      <Arguments>` + escaped(strings.Join(args, " ")) + `</Arguments>
    </Exec>
  </Actions>
</Task>
`
	file := filepath.Join(s.DataDir, "service.xml")
	start := []string{"schtasks", "/Run", "/TN", taskName}
	return plan{
		file:    file,
		text:    text,
		start:   [][]string{start},
		restart: [][]string{{"schtasks", "/Create", "/F", "/TN", taskName, "/XML", file}, start},
		stop:    [][]string{{"schtasks", "/End", "/TN", taskName}, {"schtasks", "/Delete", "/F", "/TN", taskName}},
		enabled: []string{"schtasks", "/Query", "/TN", taskName},
		active:  []string{"cmd", "/c", "schtasks /Query /FO LIST /TN " + taskName + " | find \"Running\""},
	}
}

// escaped is a text within XML.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes all
	return b.String()
}

// windowsWord quotes a word as programs of Windows split their command line: backslashes count twice before a quote.
func windowsWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\"") {
		return w
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for _, r := range w {
		switch r {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1)) // the backslashes once more, and one for the quote
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteRune(r)
	}
	return b.String() + strings.Repeat(`\`, slashes) + `"`
}
