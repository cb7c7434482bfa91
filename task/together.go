package task

import (
	"encoding/binary"
	"fmt"
)

// togetherDomain keeps the signature of several results from meaning anything else: one of them alone is
// signed under resultDomain.
const togetherDomain = "godwit results 1\x00"

// resultTree is that of results that are signed together: of short tasks a worker tells many at once. Its nodes
// are longer than those of receipts. Whoever submits a job and leads chooses much of what its worker signs,
// and must not find two results of one leaf, one to have signed and one to accuse the worker with: that takes
// 2^96 tries.
const resultTree tree = 24

// SignTogether fills in Worker, where it is empty, Signature, Path and At of results, as many with one signature
// as may be; one that is alone is signed as SignBy does. Each holds for itself from then on, whoever has it. It
// refuses all of them if there is one that SignBy would refuse.
func SignTogether(results []*Result, self PeerID, sign func(message []byte) []byte) error {
	for _, r := range results {
		if err := r.Signable(self); err != nil {
			return err
		}
	}
	for len(results) > 0 {
		n := min(len(results), treeSize)
		if err := signSome(results[:n], self, sign); err != nil {
			return err
		}
		results = results[n:]
	}
	return nil
}

func signSome(results []*Result, self PeerID, sign func(message []byte) []byte) error {
	if len(results) == 1 {
		return results[0].SignBy(self, sign)
	}
	leaves := make([]node, len(results))
	for i, r := range results {
		body, err := r.body()
		if err != nil {
			return fmt.Errorf("signing results: %w", err)
		}
		leaves[i] = resultTree.leaf(body)
	}
	root, ways := resultTree.ways(leaves)
	signature := sign(signed(togetherDomain, root))
	for i, r := range results {
		r.Signature, r.Path, r.At = signature, ways[i], uint64(i)
	}
	return nil
}

// Mark is what tells a signed result from all others of its worker: the signature, and of one that was signed
// together with others the way to it as well. The slice is read only.
func (r *Result) Mark() []byte {
	if len(r.Path) == 0 {
		return r.Signature
	}
	b := make([]byte, 0, len(r.Signature)+len(r.Path)+8)
	return binary.BigEndian.AppendUint64(append(append(b, r.Signature...), r.Path...), r.At)
}
