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

bench: ## what docs/benchmarks.md shows, in some hours; BENCH_SHORT=1 for smaller runs, some 20 minutes; tables on standard output
	@go run ./tests/bench/all -charts docs $(if $(BENCH_SHORT),-short)

e2e: ## real databases and a real Debezium, 50,000 transactions each; installs what that needs
	tests/e2e/databases/install
	BEAMCDC_E2E_TRANSACTIONS=50000 go test -count=1 -v -timeout=90m ./tests/e2e/databases

chaos: ## an hour of kills and faults, a million changes; prints a seed that repeats it
	go run ./tests/chaos -duration 1h -kills 500 -changes 1000000

ci: ## all that a change must pass
	.ci/run
