# Short names for what CONTRIBUTING.md describes. Everything works without make too.
.PHONY: demo test lint fuzz bench e2e chaos ci

demo: ## the shop's demo on this machine
	go run ./cmd/local

test: ## the README's test command
	go test ./...

lint: bin/golangci-lint ## format and lint, as CI does
	bin/golangci-lint fmt --diff
	bin/golangci-lint run ./...

bin/golangci-lint: .tool-versions
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$$(awk '$$1 == "golangci-lint" {print $$2}' .tool-versions)

fuzz: ## each fuzz target for a minute
	.ci/fuzz 60

bench: ## the benchmarks that docs/benchmarks.md quotes
	go test -run='^$$' -bench=. -benchmem ./schemas/... ./transforms/...
	go test -run='^$$' -bench=Codec -benchtime=2000x ./tests/bench
	go test -run='^$$' -bench='Worker|Graph|Coalesce|Latency' -benchtime=10x -timeout=0 ./tests/bench
	go run ./tests/bench/peers
	go run ./tests/bench/peers -emulator -programs ours,plain,java
	go run ./tests/bench/peers -programs ours,java-pubsub -rounds 3
	go run ./tests/bench/peers -start -programs ours,plain,java

e2e: ## real databases and a real Debezium, 50,000 transactions each; installs what that needs
	tests/e2e/databases/install
	BEAMCDC_E2E_TRANSACTIONS=50000 go test -count=1 -v -timeout=90m ./tests/e2e/databases

chaos: ## an hour of kills and faults, a million changes; prints a seed that repeats it
	go run ./tests/chaos -duration 1h -kills 500 -changes 1000000

ci: ## all that a change must pass
	.ci/run
