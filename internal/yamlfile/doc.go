// Package yamlfile reads YAML files that people write: jobs, the owner's rules,
// scenarios. A file is one document of plain keys and values, within limits that are
// checked before the parser begins, and every error says at which line and column
// something is wrong, and the way out.
package yamlfile
