package spec

import "strings"

// List cuts a list of specifications at its commas. Parameters have commas too:
// a part that has an equals sign and no colon before it belongs to the
// specification before, as in "fcfs,fcfspp:n=6,t=0.5,random". Spaces around
// parts are left out.
func List(list string) []string {
	var specs []string
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		name, _, pair := strings.Cut(part, "=")
		if len(specs) > 0 && pair && !strings.Contains(name, ":") {
			specs[len(specs)-1] += "," + part
			continue
		}
		specs = append(specs, part)
	}
	return specs
}
