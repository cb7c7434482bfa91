.PHONY: build test race lint fuzz bench check demo
build: ; CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/godwit ./cmd/godwit
test:  ; ./scripts/test
race:  ; go test -race ./...
lint:  ; ./scripts/lint --cross
fuzz:  ; ./scripts/fuzz
bench: ; ./scripts/bench
demo:  ; ./scripts/demo
check: lint test
