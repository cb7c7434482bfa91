package freeze_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// optimiser is the program that rewrites modules as linkers have it done.
const optimiser = "wasm-opt"

// optimiserFeatures are those of WebAssembly 2.0.
var optimiserFeatures = strings.Fields(`--enable-mutable-globals --enable-sign-ext --enable-nontrapping-float-to-int
	--enable-simd --enable-bulk-memory --enable-reference-types --enable-multivalue`)

// optimiserPasses are tried in random order. Some of them undo what others do: what counts is the shapes between.
var optimiserPasses = strings.Fields(`-O1 -O2 -O3 -O4 -Os -Oz --coalesce-locals --coalesce-locals-learning
	--simplify-locals --simplify-locals-nostructure --simplify-locals-notee --merge-blocks --merge-locals --rse --vacuum
	--remove-unused-brs --remove-unused-names --code-folding --code-pushing --local-cse --inlining --inlining-optimizing
	--flatten --reorder-locals --reorder-functions --precompute --precompute-propagate --licm --dce --dae
	--dae-optimizing --untee --ssa --rereloop --optimize-instructions --const-hoisting --directize --dfo
	--duplicate-function-elimination --simplify-globals --pick-load-signs --once-reduction
	--ssa-nomerge --simplify-locals-nonesting --merge-similar-functions --generate-stack-ir --optimize-stack-ir`)

// hasOptimiser says whether it is installed.
func hasOptimiser() bool {
	_, err := exec.LookPath(optimiser)
	return err == nil
}

// optimise gives a module that a few passes of the optimiser have rewritten.
func optimise(ctx context.Context, module []byte, choice func(int) int) ([]byte, []string, error) {
	args := append([]string{"-", "-o", "-", "-q"}, optimiserFeatures...)
	var passes []string
	for range 1 + choice(6) {
		p := optimiserPasses[choice(len(optimiserPasses))]
		if p == "--rereloop" || p == "--dfo" { // these need flat code
			passes = append(passes, "--flatten")
		}
		passes = append(passes, p)
	}
	cmd := exec.CommandContext(ctx, optimiser, append(args, passes...)...)
	var out, msg bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(module), &out, &msg
	if err := cmd.Run(); err != nil {
		return nil, passes, fmt.Errorf("%s %s: %w: %s", optimiser, strings.Join(passes, " "), err, msg.Bytes())
	}
	return out.Bytes(), passes, nil
}
