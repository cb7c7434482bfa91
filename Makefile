.PHONY: build quick test race lint fuzz bench check demo docs generate
build: ; CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/godwit ./cmd/godwit
quick: ; ./scripts/quick
test:  ; ./scripts/test
race:  ; go test -race ./...
lint:  ; ./scripts/lint --cross
fuzz:  ; ./scripts/fuzz
bench: ; ./scripts/bench
demo:  ; ./scripts/demo
docs:  ; ./scripts/docs
generate: ; ./scripts/generate
check: lint test
