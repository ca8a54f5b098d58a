# InferenceBench. `make help` lists the targets.

BIN     := bin/inferencebench
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
VENV    := .venv/real

# The GPU binding needs a C compiler. Without one Go builds the same program without it.
export CGO_CFLAGS := -Wno-deprecated-declarations

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/inferencebench
	@mkdir -p bin
	go build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/inferencebench

.PHONY: demo
demo: ## run the built-in campaign against the simulated engine and print the report's path
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/inferencebench
	$(BIN) run

.PHONY: test
test: ## run all tests that need nothing but Go
	CGO_ENABLED=0 go test ./...

.PHONY: race
race: ## run the tests, the long ones shortened, under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race -short -shuffle=on ./...

.PHONY: test-real
test-real: ## run a campaign against a real llama.cpp server (sets up its own Python environment)
	scripts/test-real $(VENV)

.PHONY: tune-real
tune-real: ## tune a real llama.cpp server on this machine, within 20 minutes
	scripts/tune-real $(VENV)

.PHONY: test-browser
test-browser: ## open reports in Chromium and check them (needs chromium)
	CGO_ENABLED=0 INFERENCEBENCH_BROWSER=1 go test -count=1 ./report/...

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (default 10s)
	scripts/fuzz $(or $(FUZZTIME),10s)

.PHONY: lint
lint: ## gofmt, vet, tidy, staticcheck
	scripts/lint

.PHONY: bench
bench: ## Go benchmarks with allocations
	CGO_ENABLED=0 go test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-limits
bench-limits: ## the client's own limits against a null server, as ratios within one run (quiet machine)
	CGO_ENABLED=0 go run ./loadgen/bench

.PHONY: bench-integrity
bench-integrity: ## nine ways to cheat and 100 honest studies: the table of docs/tuning.md
	go test ./tuner/integrity -v -run 'TestHonest|TestAttacks|TestSmallestPlan' -studies 100 -seeds 20 -timeout 30m

.PHONY: bench-peers
bench-peers: ## install other load generators, compare them with this one, write docs/benchmarks.md (quiet machine)
	scripts/bench-peers .venv/peers -o docs/benchmarks.md

.PHONY: bench-tuner
bench-tuner: ## compare the searches on landscapes with a known optimum and write docs/tuning.md
	CGO_ENABLED=0 go run ./tuner/bench -o docs/tuning.md

.PHONY: attribution
attribution: ## score the diagnosis on the fault suite and write docs/attribution.md
	CGO_ENABLED=0 go run ./analyst/suite/attribution -o docs/attribution.md

.PHONY: sim-accuracy
sim-accuracy: ## compare the simulator with measured servers (DATA=path of the table)
	CGO_ENABLED=0 go run ./cmd/inferencebench sim accuracy $(or $(DATA),../shared/data/silicon/h100_sxm.csv)

.PHONY: sim-faults-http
sim-faults-http: ## play the 25 conditions over HTTP and look for each symptom (4 minutes)
	CGO_ENABLED=0 INFERENCEBENCH_EVERY_CONDITION=1 go test ./sim/faults -run TestSymptomsOverHTTP -count 1 -v -timeout 20m

.PHONY: clean
clean: ## remove what the targets above made
	rm -rf bin .venv
