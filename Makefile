# `make` prints what there is. Everything that takes more than a line is a script: deploy/*.sh, Tests/*.sh.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:

# A target may import only what it declares in Package.swift; SwiftPM doesn't mind otherwise.
SWIFT_FLAGS := --explicit-target-dependency-import-check error

.PHONY: help
help: ## Print this
	@echo 'Quartet: state that people share, live and exactly once, in PostgreSQL alone.'
	@echo
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## Build, start PostgreSQL and the four services, wait until they are ready (DATABASE_URL, PORT, REPLICAS=n)
	@deploy/run.sh start

.PHONY: demo
demo: ## Play the main story against what runs, through its HTTP API, and show what each person sees
	@deploy/run.sh demo

.PHONY: psql
psql: ## Open psql as a role that only reads; :help there lists named queries
	@deploy/run.sh psql

.PHONY: operate
operate: ## The same as a role that may put things right: retry, discard, change retention
	@deploy/run.sh operate

.PHONY: logs
logs: ## Follow the services' logs
	@deploy/run.sh logs

.PHONY: status
status: ## Say what runs and what is ready
	@deploy/run.sh status

.PHONY: stop
stop: ## Stop the services and the private PostgreSQL
	@deploy/run.sh stop

.PHONY: install
install: ## Install what is missing to build and run (asks nothing, says what and why)
	@deploy/install.sh

.PHONY: build
build: install ## Build everything
	swift build $(SWIFT_FLAGS)

.PHONY: test
test: ## Check the style, build, and run all tests on a scratch database (TEST_DATABASE_URL: on a server of yours)
	@Tests/run.sh $(ARGS)

.PHONY: soak
soak: ## Run the tests that draw random faults for much longer: about an hour (ARGS='--filter Durability')
	@SOAK=1 Tests/run.sh $(or $(ARGS),--filter 'LedgerReplicaTests|DurabilityTests|TroubleTests|PropertyTests')

.PHONY: bench
bench: ## Measure throughput, latency, fan-out, sagas, memory and check-ins beside this machine's limits (BENCH_JSON=file, ARGS=sections)
	@Tests/Benchmarks/run.sh $(ARGS)

.PHONY: bench-functions
bench-functions: install ## Measure hot functions one by one: encode, decode, route, hash, decide
	cd Tests/Benchmarks/Functions && swift package --scratch-path ../../../.build/functions --disable-sandbox benchmark

.PHONY: bench-growth
bench-growth: ## Measure whether it gets slower when it is full: may take half an hour (GROWTH_ROWS=10000000)
	@Tests/Benchmarks/run.sh growth

.PHONY: lint
lint: install ## Check style (swift format) and that no service knows another (the package graph)
	@Tests/lint.sh

.PHONY: format
format: ## Format all Swift files
	@git ls-files -z --cached --others --exclude-standard -- '*.swift' | xargs -0 -r swift format --in-place --parallel

.PHONY: clean
clean: ## Stop what runs here, delete what was built and all local data
	@deploy/run.sh stop
	@deploy/postgres.sh destroy .local/postgres
	@deploy/postgres.sh destroy .local/test
	rm -rf .build .local
