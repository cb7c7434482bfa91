package interpreter

import "strings"

// escaped keeps braces in a text from being a template of a job file.
func escaped(s string) string { return strings.ReplaceAll(s, "{{", `{{"{{"}}`) }

// jobName is what a job of a script is called.
func jobName(script string) string {
	return strings.TrimSuffix(script, "."+script[strings.LastIndex(script, ".")+1:])
}
