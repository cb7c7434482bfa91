//go:build oldresume

package freeze

// importsDirectly is the negative control: programs whose imports ask who calls them go wrong after a freeze, and the
// tests have to see it.
const importsDirectly = true
