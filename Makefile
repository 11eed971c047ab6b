# Everything there is to do here. Each goal sets up what it needs and says how long it took.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The driver is compiled for one ABI of Node: another Node means another set-up.
ABI := $(shell node -p process.versions.modules 2>/dev/null || echo none)
READY := node_modules/.ready-$(ABI)
TIMED = trap 'printf "%-14s %4ss\n" "make $@" "$$SECONDS"' EXIT;
BIN := node_modules/.bin

.PHONY: help setup servers check types lint format-check unused tidy build package test unit conformance outside browser faults screenshots simulate mutants prove run demo demo-sequence bench format clean

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## install the packages of the lockfile, and the servers of the tests, where they are not there
	@scripts/servers.sh || true

# Looked for each time: what is there says nothing about tomorrow.
servers:
	@scripts/servers.sh

$(READY): package-lock.json .npmrc scripts/setup.sh
	@trap 'printf "%-14s %4ss\n" "make setup" "$$SECONDS"' EXIT; scripts/setup.sh && touch $@

check: $(READY) ## types, lint, format, unused code, tidy tests, build, package
	@$(TIMED) $(MAKE) -j2 -O lint types package tidy format-check unused

types: $(READY) ## check the types of sources, tests and the page
	@$(TIMED) $(BIN)/tsc -p tsconfig.json && $(BIN)/tsc -p dashboard/tsconfig.json

lint: $(READY) ## look for bugs with typed lint
	@$(TIMED) $(BIN)/eslint . --max-warnings 0

format-check: $(READY) ## complain about layout
	@$(TIMED) $(BIN)/prettier --check --log-level warn .

unused: $(READY) ## look for code, files and dependencies that nothing uses
	@$(TIMED) $(BIN)/knip

tidy: $(READY) ## keep the house rules: imports, sizes, names, clock, exports, contract tags
	@$(TIMED) $(BIN)/vitest run --project tidy

build: $(READY) ## write dist/
	@$(TIMED) node scripts/build.mjs

package: build ## build, then check what would be packed: exports and types
	@$(TIMED) $(BIN)/publint --strict && $(BIN)/attw --pack . --profile esm-only --no-summary --format table-flipped

test: servers ## check, then every test (SEED=n repeats one random run)
	@$(TIMED) $(MAKE) check && for part in unit stores conformance outside browser faults; do $(BIN)/vitest run --project $$part; done

unit: $(READY) ## the tests beside the source
	@$(TIMED) $(BIN)/vitest run --project unit

conformance: servers build ## build, then the tests that span parts: stores, faults, guards, the simulation
	@$(TIMED) $(BIN)/vitest run --project stores && $(BIN)/vitest run --project conformance

outside: servers build ## build, then the tests of what users meet: the command, the server, the documents
	@$(TIMED) $(BIN)/vitest run --project outside

browser: servers build ## build, then the tests of the page in a real Chromium
	@$(TIMED) $(BIN)/vitest run --project browser

screenshots: servers build ## take the pictures of the documents again: every view, light and dark, and the night
	@$(TIMED) node scripts/screenshots.mjs

faults: servers build ## build, then a crowd on each store while processes, networks, disks and clocks fail (60 s a store; LONG=1, SEED=n)
	@$(TIMED) $(BIN)/vitest run --project faults

simulate: $(READY) ## the code that ships in 20,000 virtual worlds (SEED=n KIND=… or STORY=file tells one, SEEDS=k, FIRST=n)
	@$(TIMED) $(BIN)/vitest run --project conformance test/simulation/simulation.test.ts

mutants: servers $(READY) ## break the code that ships in sixty ways, each of which a test must notice (MUTANTS=part of a name)
	@$(TIMED) env MUTANTS="$(or $(MUTANTS),all)" $(BIN)/vitest run --project conformance test/mutants

prove: servers build ## histories, simulation, mutants and faults with LONG=1, three quarters of an hour: docs/proof.md (PROVE_SHORT=1 to try it)
	@$(TIMED) node scripts/prove.mjs

run: build ## serve leases over HTTP from this user's store, and print the address
	@$(TIMED) node dist/cli/main.js serve

demo: build ## the takeover: two processes, the holder killed, the other goes on
	@$(TIMED) node examples/takeover.mjs

demo-sequence: build ## writers and readers of one stream, some killed: the replays are the same
	@$(TIMED) node examples/demo-sequence.mjs

bench: build ## measure against peers and bare baselines (ONLY=public, sqlite, postgres, redis, floors, pieces, layers, sequence, manager, command, server, page)
	@$(TIMED) node bench/run.mjs

format: $(READY) ## put the layout right
	@$(TIMED) $(BIN)/prettier --write --log-level warn .

clean: ## remove what was built and installed
	@$(TIMED) rm -rf dist dist.*.tmp coverage node_modules
