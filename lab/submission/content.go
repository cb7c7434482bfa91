package submission

import (
	"context"

	"godwit/api"
	"godwit/blocks/seal"
	"godwit/task"
)

// Content returns an output's bytes, which sealer opens, and an error unless they are the ones that the signed result
// names.
func Content(ctx context.Context, client *api.Client, sealer *seal.Sealer, o task.Output) ([]byte, error) {
	return content(ctx, client, sealer, o)
}
