//go:build !oldresume

package freeze

// importsDirectly has resume functions import what the guest imports. It is false but in a negative control of
// the tests.
const importsDirectly = false
