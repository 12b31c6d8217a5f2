# Everything a developer or CI does. `make help` lists it.
SHELL := /bin/bash
GOLANGCI_LINT_VERSION := v2.15.0
LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
APP := internal/webui/app
# Node builds the pages; without it Go alone builds a binary that says on / how to get them.
NPM := $(shell node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null && command -v npm)
WITH_ENGINES := go run ./internal/embedded/testengines --
# Packages are tested two at a time: their engines share the machine.
TEST := go test -p 2 -count=1 -timeout 60m $(TESTFLAGS)
# A module of its own: tests and tools whose libraries the product is not made of.
IN_CHECKS := cd internal/checks &&
FUZZTIME ?= 60s
comma := ,
# As the image's: without C, and without what only debuggers read. The compiler collects its garbage only
# where it takes more than 900 MB, as the largest packages do.
GO_BUILD := CGO_ENABLED=0 GOGC=off GOMEMLIMIT=900MiB go build -trimpath -gcflags=all=-dwarf=false
TAGS := embedded$(if $(NPM),$(comma)webui)
ENGINES := deploy/engines
# $(call step,what,command) says what is done, and how long it took.
step = @began=$$(date +%s); echo "→ $(1)"; $(2) && echo "✓ $(1): $$(($$(date +%s) - began)) s"

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: run
run: PARTS := $(if $(ENGINES_DIR),,engines)
run: build ## start the whole product on embedded stores with demo data
	@exec ./bin/callgate dev --sample

.PHONY: test
test: programs clients ## all tests: Go on real PostgreSQL, ClickHouse and Redis, then the pages in Chromium
	$(WITH_ENGINES) $(TEST) ./...
	$(IN_CHECKS) $(TEST) ./...
	$(MAKE) pages-test

# Everything, one after the other, whatever fails: what needs minutes or a quiet machine is in here only (build tag
# nightly). Each part writes its own log.
NIGHTLY := race cluster oracle slow chaos deaths soak fuzz replicas all-browsers
.PHONY: nightly
nightly: ## make test under the race detector, on two shards, at length and under faults, in all browsers; a log each in .nightly/, and a summary
	@mkdir -p .nightly && rm -f .nightly/*; for part in $(NIGHTLY); do \
	  began=$$(date +%s); $(MAKE) --no-print-directory $$part TESTFLAGS=-v >.nightly/$$part.log 2>&1 && result=passed || result=FAILED; \
	  printf '%-14s %s  %5d s  %4d passed, %d failed\n' $$part $$result $$(($$(date +%s) - began)) \
	    "$$(grep -cE '^ *--- PASS' .nightly/$$part.log)" "$$(grep -cE '^ *--- FAIL' .nightly/$$part.log)" | tee -a .nightly/summary; \
	done; ! grep -q FAILED .nightly/summary

.PHONY: slow
slow: programs ## the tests that take minutes and are in no other part of make nightly
	$(WITH_ENGINES) $(TEST) -tags nightly -run 'OfTheBenchmark|IsMeasured|StalledDownloads|AFullDisk|OnOneDirectoryAKilled|ProductKilled|InRandomOrder' ./internal/bench/... ./internal/console ./internal/calls/... ./cmd/callgate

.PHONY: all-browsers
all-browsers: export NIGHTLY_PAGES := 1
all-browsers: pages-test ## tests of the pages, with those of clocks, and in WebKit as well

ON_TWO_SHARDS := EMBEDDED_SHARDS=2 $(WITH_ENGINES)

.PHONY: cluster
cluster: export ORACLE_QUESTIONS ?= 2000
cluster: ## all tests of statistics, verify, the console and the data team on two shards of real engines
	$(ON_TWO_SHARDS) $(TEST) -v ./internal/stats ./internal/verify ./internal/console
	$(ON_TWO_SHARDS) $(TEST) -v -run 'TheDataTeamReads' ./clickhouse

.PHONY: race
race: programs clients ## all tests under the race detector
	$(WITH_ENGINES) $(TEST) -race ./...
	$(IN_CHECKS) $(TEST) -race ./...

.PHONY: bench
bench: build ## what a call costs beside bare proxies and nginx; BENCHFLAGS="-held 8000 -rounds 9"
	go run ./internal/bench -binary bin/callgate $(BENCHFLAGS)

.PHONY: bench-stats
bench-stats: ROWS ?= 100000000
bench-stats: build ## what the statistics cost with ROWS (100000000) calls, and with a tenth of them; BENCHFLAGS="-verify 0 -data dir -shards 2"
	go run ./internal/bench/statistics -binary bin/callgate -rows $(ROWS) $(BENCHFLAGS)

.PHONY: oracle
oracle: export ORACLE_QUESTIONS ?= 20000
oracle: export ORACLE_ENGINES := own
oracle: export EXPLORE_QUESTIONS ?= 5000
oracle: export PAGES_CALLS ?= 1000000
oracle: export COST_CALLS ?= 10000000
oracle: ## ORACLE_QUESTIONS (20000) random questions of every statistics endpoint and EXPLORE_QUESTIONS (5000) of Explore against plain slices, all pages of PAGES_CALLS (1000000) calls, and every cost of COST_CALLS (10000000)
	$(WITH_ENGINES) go test -count=1 -v -timeout 4h -run 'Oracle|AllPages|ExploreTells' ./internal/stats
	$(WITH_ENGINES) go test -count=1 -v -timeout 1h -run 'EveryCost' ./internal/verify

.PHONY: fuzz
fuzz: export API_FUZZ_REQUESTS ?= 20000
fuzz: ## every fuzz target in turn, FUZZTIME (60s) each, and API_FUZZ_REQUESTS (20000) requests made from openapi.yaml
	@set -e; for package in $$(git grep -l '^func Fuzz' -- '*_test.go' | xargs -r -n1 dirname | sort -u); do \
	  for target in $$(go test -list '^Fuzz' ./$$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) ./$$package; \
	  done; done
	$(WITH_ENGINES) go test -count=1 -v -run TestRandomRequestsAreAnsweredWithinTheContract ./internal/console
	METER_SPLITS=all go test -count=1 -v -run 'AtEverySplit' ./internal/meter
	REDACTION_CASES=1000000 go test -count=1 -v -run TestNoSecretOfAnyKind ./internal/redact

.PHONY: chaos
chaos: export CHAOS_KILLS ?= 10
chaos: export CHAOS_CALLS ?= 100000
chaos: export CHAOS_RANDOM_KILLS ?= 200
chaos: export CHAOS_QUEUED ?= 2000000
chaos: export CHAOS_CUTS ?= 500
chaos: export CHAOS_DAMAGE_STEP ?= 1
chaos: export FAILOVERS ?= 10
chaos: export CHAOS_SHARD_KILLS ?= 50
chaos: export ROLLING_ROUNDS ?= 10
chaos: export ALERT_KILLS ?= 200
chaos: programs ## faults at length: kills under load (CHAOS_KILLS, CHAOS_RANDOM_KILLS), of shards (CHAOS_SHARD_KILLS), restarts of each process (ROLLING_ROUNDS), an upgrade and back (UPGRADE_ROUNDS, 1), outage (CHAOS_QUEUED), cut inserts (CHAOS_CUTS), damage, full disk, FAILOVERS (10) of PostgreSQL and of a real Redis, ten minutes of limits with Redis hung and killed, kills of consoles while alerts come and go (ALERT_KILLS)
	$(WITH_ENGINES) go test -tags nightly -count=1 -v -timeout 60m -run 'Killed|InTwoRoles|AnHourWithout|FullSpoolDisk|AShardThatHangs|RestartedInTurn' ./cmd/callgate
	$(WITH_ENGINES) go test -tags nightly -count=1 -v -timeout 60m -run 'ConnectionsCut|Damaged|KilledShard|ConsolesKilled' ./internal/calls/...
	CUT_OFFSETS=all GATEWAY_CALLS=100000 UPLOAD_BYTES=1073741824 go test -tags nightly -count=1 -v -timeout 60m -run 'EveryCut|CallersThatLeaveAre|LeaveNothing|LargeUpload' ./internal/gateway
	$(WITH_ENGINES) env FLOOD_CONNECTIONS=20000 FLOOD_FILES=4096 SILENT_CALLS=4150 go test -tags nightly -count=1 -v -timeout 30m -run 'LeaveTheProcessServing|LeaveTheOthersServed' ./cmd/callgate
	$(WITH_ENGINES) env REVOCATION_RATE=1000 KEYS_RATE=1000 FLOOD_SECONDS=30 go test -tags nightly -count=1 -v -timeout 30m -run 'RevokedKeys|RotationWithAnOverlap|FloodOf' ./cmd/callgate
	$(WITH_ENGINES) go test -tags upgrade,nightly -count=1 -v -timeout 30m -run 'UpgradedInTurn' ./cmd/callgate
	go test -tags nightly -count=1 -v -timeout 60m -run 'PostgreSQLFailover' ./cmd/callgate
	EMBEDDED_REDIS=server go test -tags nightly -count=1 -v -timeout 60m -run 'RedisFailover' ./cmd/callgate
	$(WITH_ENGINES) go test -tags nightly -count=1 -v -timeout 60m -run 'ConsolesKilled' ./internal/alerts
	LIMITS_PACE=usual go test -tags nightly -count=1 -v -timeout 30m -run 'NoWindowHasMore' ./internal/limits
	$(WITH_ENGINES) env LIMITS_SECONDS=600 go test -tags nightly -count=1 -v -timeout 30m -run 'HoldOneLimitWhile|HoldOneBudgetWhile' ./cmd/callgate

.PHONY: deaths
deaths: export DEATH_RATE ?= 1000
deaths: export DEATH_SECONDS ?= 20
deaths: ## one of two upstreams dies in five ways under DEATH_RATE (1000) calls a second for DEATH_SECONDS (20) each
	go test -tags nightly -count=1 -v -timeout 30m -run 'OneOfTwoUpstreamsDies' ./internal/gateway

.PHONY: replicas
replicas: PROGRAMS := java:default-jre-headless zooinspector:zookeeper
replicas: export REPLICA_CUTS ?= 200
replicas: export CHAOS_REPLICA_KILLS ?= 100
replicas: export CHAOS_FETCHES_SECONDS ?= 60
replicas: export CHAOS_FROZEN_SECONDS ?= 60
replicas: programs ## one and two shards of two replicas each, of clickhouse-server where it is on the PATH, with a real ZooKeeper: cut inserts (REPLICA_CUTS), kills (CHAOS_REPLICA_KILLS), stopped fetches, a frozen ZooKeeper
	go test -p 1 -count=1 -v -timeout 60m -tags replicas -run 'Replica|ZooKeeper' ./clickhouse ./internal/calls/ledger/... ./cmd/callgate

.PHONY: soak
soak: export SOAK_SECONDS ?= 1800
soak: export SOAK_RATE ?= 2000
soak: ## mixed calls at SOAK_RATE (2000) a second for SOAK_SECONDS (1800): memory, goroutines and files stay as they were
	$(WITH_ENGINES) go test -count=1 -v -timeout 4h -tags nightly -run 'MixedCalls' ./cmd/callgate

.PHONY: check
check: format vet lint pages-check generated race pages-test ## what must be green: format, vet, lint, generated files current, tests with -race

.PHONY: build
build: ## build bin/callgate with the embedded engines, and with the pages if Node is there
	@$(MAKE) --no-print-directory -j $(if $(NPM),pages $(PARTS)) compiled
	$(call step,bin/callgate is linked,$(GO_BUILD) -tags "$(TAGS)" -ldflags '-w -X callgate/internal/boot.Version=$(VERSION)' -o bin/.callgate.new ./cmd/callgate && mv -f bin/.callgate.new bin/callgate)

# All of the program but the pages, while they are built: what follows finds it in Go's cache.
.PHONY: compiled
compiled:
	$(call step,Go modules are fetched and compiled,$(GO_BUILD) -tags embedded ./internal/boot)

# On the platform that they are pinned for; on others callgate dev says what to do.
.PHONY: engines
engines: $(if $(and $(filter Linux,$(shell uname -s)),$(filter x86_64,$(shell uname -m))),$(ENGINES)/node_modules/.package-lock.json)

$(ENGINES)/node_modules/.package-lock.json: $(ENGINES)/package-lock.json
	$(call step,the database engines are fetched (once),npm --prefix $(ENGINES) ci --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@)

.PHONY: pages
pages: $(APP)/dist/index.en.html ## build the console's and the back office's pages

# What builds the pages, and with it what tests them. npm empties node_modules first, these marks included.
BUILD_PACKAGES := $(APP)/node_modules/.for-build
TEST_PACKAGES := $(APP)/node_modules/.for-tests
NPM_CI := npm --prefix $(APP) ci --no-audit --no-fund --loglevel=error

$(BUILD_PACKAGES): $(APP)/package-lock.json
	$(call step,npm packages that build the pages are fetched,$(NPM_CI) --omit=dev && touch $@)

$(TEST_PACKAGES): $(APP)/package-lock.json
	$(call step,npm packages that build and test the pages are fetched,$(NPM_CI) && touch $(BUILD_PACKAGES) $@)

$(APP)/dist/index.en.html: $(BUILD_PACKAGES) $(shell find $(APP)/src $(APP)/public $(APP)/build -type f 2>/dev/null) $(wildcard $(APP)/*.html $(APP)/*.ts $(APP)/package.json)
	$(call step,the pages are built,rm -rf $(APP)/dist.new && DIST=dist.new npm --prefix $(APP) run --silent build && rm -rf $(APP)/dist && mv $(APP)/dist.new $(APP)/dist)

.PHONY: pages-check
pages-check: $(TEST_PACKAGES) ## format, types and lint of the pages
	npm --prefix $(APP) run --silent format || { echo "not formatted: run npm --prefix $(APP) run reformat"; exit 1; }
	npm --prefix $(APP) run --silent typecheck
	npm --prefix $(APP) run --silent lint

.PHONY: pages-test
pages-test: $(TEST_PACKAGES) build browsers ## tests of the pages: their logic, then Chromium and Firefox on the real binary
	GO_STYLE=1 npm --prefix $(APP) run --silent test
	GO_STYLE=1 npm --prefix $(APP) run --silent e2e

# Debian's where apt may be used, else Playwright's own Chromium and whatever Firefox and WebKitGTK there are; CHROMIUM
# and FIREFOX name others. WebKitGTK's browser needs a screen, which is Xvfb's.
.PHONY: browsers
browsers:
	@missing=(); [ -n "$$CHROMIUM" ] || command -v chromium >/dev/null || missing+=(chromium fonts-noto-cjk); \
	  [ -n "$$FIREFOX" ] || command -v firefox-esr firefox >/dev/null || missing+=(firefox-esr); \
	  command -v WebKitWebDriver >/dev/null || missing+=(webkit2gtk-driver); command -v Xvfb >/dev/null || missing+=(xvfb); \
	  [ $${#missing[@]} = 0 ] || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}" >/dev/null; } || \
	  npm --prefix $(APP) exec -- playwright install chromium

# What stands around Callgate is tested with the programs themselves, Debian's where apt may be used.
PROGRAMS := nginx:nginx-light pgbouncer:pgbouncer
.PHONY: programs
programs:
	@missing=(); for program in $(PROGRAMS); do command -v $${program%%:*} >/dev/null || missing+=($${program##*:}); done; \
	  [ $${#missing[@]} = 0 ] || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}" >/dev/null; } || \
	  { echo "the tests need these packages: $${missing[*]}"; exit 1; }

# The stock clients that internal/checks tries. The newest ask for Node 22, and do the same on 20.
CLIENTS := internal/checks/clients
.PHONY: clients
clients: $(CLIENTS)/node_modules/.package-lock.json

$(CLIENTS)/node_modules/.package-lock.json: $(CLIENTS)/package-lock.json
	$(call step,stock clients are fetched (once),npm --prefix $(CLIENTS) ci --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@)

.PHONY: screenshots
screenshots: $(TEST_PACKAGES) build browsers ## every page in both themes and languages, wide and narrow, to $(APP)/screenshots
	SHOTS=screenshots npm --prefix $(APP) run --silent e2e

.PHONY: pictures
pictures: screenshots ## the three of them that README shows
	cd $(APP) && for name in overview failure phone; do cp screenshots/readme-$$name-*.png pictures/$$name.png; done

.PHONY: format
format: ## fail on files gofmt would change
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "not formatted (run gofmt -w):"; echo "$$out"; exit 1; }

.PHONY: vet
vet: ## go vet, with and without the embedded engines
	go vet ./...
	go vet -tags embedded,upgrade,nightly ./internal/boot ./cmd/callgate
	go vet -tags nightly ./internal/bench/... ./internal/gateway ./internal/console ./internal/calls/...
	go vet -tags replicas ./clickhouse ./internal/embedded/... ./internal/calls/ledger/... ./cmd/callgate
	$(IN_CHECKS) go vet ./...

.PHONY: lint
lint: $(LINT) ## golangci-lint: import directions and the rest
	$(LINT) run ./...
	$(IN_CHECKS) $(CURDIR)/$(LINT) run ./...

$(LINT):
	@mkdir -p bin
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@

.PHONY: generate
generate: $(TEST_PACKAGES) ## write generated files anew
	go generate ./...
	npm --prefix $(APP) run --silent generate
	go mod tidy
	$(IN_CHECKS) go mod tidy

.PHONY: generated
generated: $(TEST_PACKAGES) ## fail when a generated file is not current
	go mod tidy -diff
	$(IN_CHECKS) go mod tidy -diff
	@before=$$(git status --porcelain); go generate ./... && npm --prefix $(APP) run --silent generate >/dev/null && [ "$$before" = "$$(git status --porcelain)" ] || { echo "generated files are not current: run make generate"; exit 1; }

.PHONY: clean
clean: ## remove what was built; data in .callgate stays
	rm -rf bin $(APP)/dist
