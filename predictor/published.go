package predictor

import "godwit/internal/spec"

// Default is the predictor of an overlay whose rules name none. It needs the survival records of adverts alone.
const Default = "blend"

// usualThreshold is the default of a policy's threshold for predictors other than TDE: the member more likely stays than
// goes. None of them answers 1, so the thesis's threshold of 1 would qualify nobody.
const usualThreshold = .5

// IsTDE reports whether a specification, as Parse reads it, is of TDE, which the thesis's policies were published with.
// "" is what a policy was published with.
func IsTDE(s string) bool {
	name, _, err := spec.Split(s)
	return err == nil && (name == "" || name == "tde" || name == "tde5")
}

// Threshold is the default of a threshold that a policy compares with the answers, 0 to 1, of a predictor, as Parse
// reads it. It is the thesis's 1 for TDE ("" too), which often answers 1, and .5 for others.
func Threshold(s string) float64 {
	if IsTDE(s) {
		return 1
	}
	return usualThreshold
}

// Own reports whether a policy's own parameters of TDE count with a predictor, as Parse reads it: with "", and with TDE
// without parameters. If not, why says so for people.
func Own(s string) (own bool, why string) {
	name, values, err := spec.Split(s)
	switch {
	case err == nil && (name == "" || name == "tde" && len(values) == 0):
		return true, ""
	case IsTDE(s):
		return false, "the predictor " + s + " has its own"
	}
	return false, "the predictor tde alone reads it, and this one is " + s
}

// Choose returns the predictor of a policy: the one of the rules, as Parse reads it, or the policy's own if the rules
// name TDE without parameters.
func Choose(rules, own string) string {
	if counts, _ := Own(rules); counts && rules != "" && own != "" && IsTDE(own) {
		return own
	}
	return rules
}
