# `make` lists the targets. Anything longer than a line is a script: deploy/*.sh, Tests/*.sh.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:

.PHONY: help
help: ## List these targets
	@echo 'Quartet: state that people share, live and exactly once, in PostgreSQL alone.'
	@echo
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## Build the four services, start PostgreSQL and them, and wait until they are ready (DATABASE_URL, PORT, REPLICAS=n, TLS=yes)
	@deploy/run.sh start

.PHONY: demo
demo: ## Play a story through the HTTP API of the running services and show what each person sees
	@deploy/run.sh demo

.PHONY: tui
tui: ## Open the app for terminals at the running services (ARGS='--folder .local/bob' is a second person)
	@deploy/run.sh tui $(ARGS)

.PHONY: psql
psql: ## Open psql as a role that can only read; :help lists named queries
	@deploy/run.sh psql

.PHONY: operate
operate: ## Open psql as a role that can also retry and discard messages and change retention
	@deploy/run.sh operate

.PHONY: backup
backup: ## Save the database in a file, while the services go on (FILE, by default in .local/backups; DATABASE_URL)
	@deploy/run.sh backup '$(FILE)'

.PHONY: restore
restore: ## Replace the database by a backup, after make stop (FILE; REPLACE=yes puts aside what is there; DATABASE_URL)
	@REPLACE='$(REPLACE)' deploy/run.sh restore '$(FILE)'

.PHONY: logs
logs: ## Follow the services' logs
	@deploy/run.sh logs

.PHONY: status
status: ## Show what is running and whether it is ready
	@deploy/run.sh status

.PHONY: doctor
doctor: ## Check settings, database and services, and say what is wrong and what to do (session-client doctor)
	@deploy/run.sh doctor

.PHONY: stop
stop: ## Stop the services and the private PostgreSQL
	@deploy/run.sh stop

.PHONY: install
install: ## Install missing packages, without asking, and say what and why
	@deploy/install.sh

.PHONY: build
build: install ## Build everything
	deploy/build.sh

.PHONY: test
test: ## Check the style, build, and run all tests on a scratch database (TEST_DATABASE_URL: on your server; ARGS)
	@Tests/run.sh $(ARGS)

.PHONY: test-console
test-console: ## Run only the tests of the console, in headless Chromium; screenshots go to .local/screenshots
	@Tests/run.sh --filter 'EndToEndTests.Console'

.PHONY: soak
soak: ## Run the tests with random faults and with crowds for much longer (ARGS='--filter Durability')
	@SOAK=1 Tests/run.sh $(or $(ARGS),--filter 'LedgerReplicaTests|DurabilityTests|TroubleTests|PropertyTests|CrowdTests|DrainTests|RPCTests/quiet|StormTests|ScanTests|AppPackageTests')

.PHONY: bench
bench: ## Measure throughput, latency, fan-out, memory and more, beside this machine's limits and the last results (ARGS=sections)
	@Tests/Benchmarks/run.sh $(ARGS)

.PHONY: bench-compare
bench-compare: ## Measure another commit's build and this one in turn, and compare the medians (BASE=commit, ROUNDS=5, ARGS=sections)
	@Tests/Benchmarks/run.sh --base '$(BASE)' $(ARGS)

.PHONY: bench-functions
bench-functions: install ## Measure hot functions one by one: encode, decode, route, hash, decide
	cd Tests/Benchmarks/Functions && QUARTET_FUNCTIONS=1 swift package --scratch-path ../../../.build/functions --disable-sandbox benchmark

.PHONY: bench-growth
bench-growth: ## Measure whether a full system gets slower; may take half an hour (GROWTH_ROWS=10000000)
	@Tests/Benchmarks/run.sh resuming growth

.PHONY: lint
lint: install ## Check the style (swift format) and that no service imports another (the package graph)
	@Tests/lint.sh

.PHONY: proto
proto: ## Make the protos and their Swift from the server's endpoints (needs protoc)
	@Shared/API/Proto/make.sh

.PHONY: schema-dump
schema-dump: ## Keep the schema of the version that is being released, for tests of updates
	@Tests/System/Schema/dump.sh

.PHONY: format
format: ## Format all Swift files
	@git ls-files -z --cached --others --exclude-standard -- '*.swift' | xargs -0 -r swift format --in-place --parallel

.PHONY: clean
clean: ## Stop everything, and delete all builds and all local data
	@deploy/run.sh stop
	@deploy/postgres.sh destroy .local/postgres
	@deploy/postgres.sh destroy .local/test
	rm -rf .build .local
