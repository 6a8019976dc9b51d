# Terminus. `make` or `make help` lists the targets.

MODULE  := github.com/terminus-archive/terminus
VERSION ?= $(patsubst v%,%,$(shell git describe --tags --dirty 2>/dev/null || echo v0.0.0-dev))
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null)
COMMIT_DATE := $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
BUILD   := build
BINARY  := $(BUILD)/terminus

# The systems and processors that a release is built for.
OSES  := linux darwin windows
ARCHS := amd64 arm64

GO        ?= go
LDFLAGS   := -s -w -X $(MODULE)/internal/cli.version=$(VERSION) -X $(MODULE)/internal/cli.commit=$(COMMIT) \
	-X $(MODULE)/internal/cli.commitDate=$(COMMIT_DATE)
export CGO_ENABLED ?= 0
# For every command alike: what was compiled for one target serves the others.
export GOFLAGS += -trimpath

# A package's tests finish in seconds. The slowest, which run the real binary
# over and over, stay far below this even on two busy cores.
TEST_TIMEOUT ?= 12m
RACE_TIMEOUT ?= 20m
FUZZTIME     ?= 10s
CRASH_KILLS  ?= 100
SIZE         ?= M
OUT          ?= $(BUILD)/corpus

# The linter is pinned: another version has another opinion.
GOLANGCI_VERSION := v2.15.0
TOOLS            ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/terminus-tools
GOLANGCI         := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint

# The inspector of the Model Context Protocol, an npm package.
INSPECTOR_VERSION := 2.12.0
INSPECTOR_DIR     := $(TOOLS)/mcp-inspector-$(INSPECTOR_VERSION)
INSPECTOR         := $(INSPECTOR_DIR)/node_modules/.bin/mcp-inspector

# The versions of Claude Code that it is tested with, an npm package: the newest
# one, and the one that npm chooses where Node.js is older than 22.
CLAUDE_VERSIONS ?= 2.1.332 2.1.197
CLAUDE_CACHE    ?= $(TOOLS)/claude-code

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the static binary into build/terminus
	@mkdir -p $(BUILD)
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BINARY)$(shell $(GO) env GOEXE) ./cmd/terminus

.PHONY: assets
assets: ## write manual pages and completions into build/assets
	$(GO) run -ldflags '-X $(MODULE)/internal/cli.version=$(VERSION)' ./internal/assets -out $(BUILD)/assets \
		-date $(or $(COMMIT_DATE),1970-01-01T00:00:00Z)

.PHONY: demo
demo: ## archive, list, search and show the sample sessions in a temporary home
	@[ -x $(BINARY) ] || echo 'Building first. The first build downloads modules and takes about a minute.'
	@$(MAKE) --no-print-directory build
	@sh scripts/demo.sh $(BINARY) testdata/demo

.PHONY: record-demo
record-demo: build ## record the demonstration of the README anew (Linux): docs/demo.txt, docs/demo.cast, docs/demo.svg
	$(GO) run ./internal/demo -binary $(BINARY) -path "$$PATH"

.PHONY: test
test: ## run every test
	$(GO) test -timeout $(TEST_TIMEOUT) ./...

.PHONY: race
race: ## run every test under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout $(RACE_TIMEOUT) ./...

.PHONY: vet
vet: ## go vet, also of the files behind build tags
	$(GO) vet -tags crash ./...

.PHONY: lint
lint: $(GOLANGCI) ## run the linters and the format check, and shellcheck where it is installed
	$(GOLANGCI) run ./...
	@if command -v shellcheck >/dev/null 2>&1; then shellcheck -x .ci/run scripts/*.sh packaging/*.sh packaging/claude-plugin/hooks/run.sh \
		nix/checks/*.sh nix/stub/*.sh nix/stub/hooks/*.sh; \
	else echo 'shellcheck is not installed: scripts not checked'; fi

# What checks the form of the workflows, pinned.
ACTIONLINT_VERSION := v1.7.12
ACTIONLINT         := $(TOOLS)/actionlint-$(ACTIONLINT_VERSION)/actionlint

$(ACTIONLINT):
	GOBIN=$(dir $@) $(GO) install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)

.PHONY: lint-workflows
lint-workflows: $(ACTIONLINT) ## check the form of the workflows of GitHub
	$(ACTIONLINT) -color=false

.PHONY: fmt
fmt: $(GOLANGCI) ## format the Go files
	$(GOLANGCI) fmt ./...

.PHONY: tools
tools: $(GOLANGCI) ## install the pinned linter into the cache directory

$(GOLANGCI):
	GOBIN=$(dir $@) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

.PHONY: cross-vet
cross-vet: $(foreach os,$(OSES),$(foreach arch,$(ARCHS),cross-vet-$(os)-$(arch))) ## vet for every system and processor

cross-vet-%:
	GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) $(GO) vet ./...

.PHONY: cross-link
cross-link: $(foreach os,$(OSES),cross-link-$(os)) ## link one binary for every system

cross-link-%:
	GOOS=$* GOARCH=amd64 $(GO) build -o $(BUILD)/cross/$*/ ./cmd/terminus

.PHONY: corpus
corpus: ## write made-up transcripts (SIZE=S|M|L|Many OUT=build/corpus)
	$(GO) run ./internal/corpus/gen -size $(SIZE) -out $(OUT)

.PHONY: bench
bench: ## measure the budgets on the made-up transcripts
	@if [ -d internal/bench ]; then \
		$(MAKE) --no-print-directory build corpus && $(GO) run ./internal/bench -corpus $(OUT) -binary $(BINARY); \
	else echo 'there are no benchmarks yet'; fi

.PHONY: bench-hooks
bench-hooks: build corpus ## measure the hooks over the store of the made-up transcripts (SIZE=M)
	$(GO) run ./internal/bench -hooks -corpus $(OUT) -name $(SIZE) -binary $(BINARY)

.PHONY: fuzz
fuzz: ## run each fuzz target for ten seconds (FUZZTIME=10s)
	@set -e; for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' internal | xargs -r -n 1 dirname | sort -u); do \
		for target in $$(grep -h -o '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | cut -d' ' -f2 | sort); do \
			echo "$$dir $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) ./$$dir; \
		done; \
	done

.PHONY: crash
crash: ## kill the real binary at random moments and compare the stores
	TERMINUS_CRASH_KILLS=$(CRASH_KILLS) $(GO) test -count 1 -timeout $(RACE_TIMEOUT) -run 'Crash|Killed' -tags crash ./testscripts/...

.PHONY: real-clients
real-clients: ## read what real clients wrote (CLIENT_STORE=a configuration directory, or REAL_CLIENTS=a directory of homes)
	@if [ -z '$(CLIENT_STORE)$(REAL_CLIENTS)' ]; then echo 'set CLIENT_STORE or REAL_CLIENTS'; exit 2; fi
	TERMINUS_CLIENT_STORE='$(abspath $(CLIENT_STORE))' TERMINUS_REAL_CLIENTS='$(abspath $(REAL_CLIENTS))' \
		$(GO) test -count 1 -timeout $(TEST_TIMEOUT) -run RealClient -v ./testscripts/...

.PHONY: inspector
inspector: ## let the MCP inspector list and call the tools (needs npm; installs the inspector into the cache directory)
	@if ! command -v npm >/dev/null 2>&1; then echo 'npm is not installed: the MCP inspector is not asked'; exit 0; fi; \
	if [ ! -x '$(INSPECTOR)' ] && ! npm install --silent --no-audit --no-fund --prefix '$(INSPECTOR_DIR)' \
		@modelcontextprotocol/inspector@$(INSPECTOR_VERSION); then \
		echo 'the MCP inspector cannot be installed here: it is not asked'; exit 0; fi; \
	TERMINUS_MCP_INSPECTOR='$(INSPECTOR)' $(GO) test -count 1 -timeout $(TEST_TIMEOUT) -run Inspector -v ./testscripts/...

.PHONY: test-claude
test-claude: ## let real Claude Codes be given what they are promised (needs npm; installs them into the cache directory)
	@GO='$(GO)' TEST_TIMEOUT='$(TEST_TIMEOUT)' sh scripts/test-claude.sh '$(CLAUDE_CACHE)' $(CLAUDE_VERSIONS)

# What builds a release, pinned.
GORELEASER_VERSION  := v2.15.1
CYCLONEDX_VERSION   := v1.10.0
RELEASE_TOOLS       := $(TOOLS)/release-$(GORELEASER_VERSION)-$(CYCLONEDX_VERSION)

$(RELEASE_TOOLS)/done:
	GOBIN=$(@D) $(GO) install github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)
	GOBIN=$(@D) $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX_VERSION)
	touch $@

.PHONY: release-tools
release-tools: $(RELEASE_TOOLS)/done ## install what builds a release into the cache directory

.PHONY: release-snapshot
release-snapshot: $(RELEASE_TOOLS)/done ## build every artefact of the last commit into build/dist, without a network
	PATH="$(RELEASE_TOOLS):$$PATH" sh scripts/release-snapshot.sh $(BUILD)/dist $(VERSION)

.PHONY: release-check
release-check: release-snapshot ## build the artefacts a second time, compare the bytes, and use them
	PATH="$(RELEASE_TOOLS):$$PATH" sh scripts/release-snapshot.sh $(BUILD)/dist-again $(VERSION)
	TERMINUS_DIST='$(abspath $(BUILD)/dist)' TERMINUS_DIST_AGAIN='$(abspath $(BUILD)/dist-again)' \
		$(GO) test -count 1 -timeout $(TEST_TIMEOUT) -run Released -v ./testscripts/...

.PHONY: release
release: $(RELEASE_TOOLS)/done ## publish the release of the tag that is checked out, as a draft (needs GITHUB_TOKEN)
	PATH="$(RELEASE_TOOLS):$$PATH" TERMINUS_VERSION='$(VERSION)' goreleaser release -f goreleaser.yaml --clean

# What checks the form of the scripts that people run, pinned.
SHFMT_VERSION := v3.14.1
SHFMT         := $(TOOLS)/shfmt-$(SHFMT_VERSION)/shfmt

$(SHFMT):
	GOBIN=$(@D) $(GO) install mvdan.cc/sh/v3/cmd/shfmt@$(SHFMT_VERSION)

.PHONY: packaging-check
packaging-check: $(SHFMT) ## use the install script and the npm packages (of build/dist, where release-snapshot built it; needs npm)
	$(SHFMT) -i 2 -d packaging/install.sh packaging/claude-plugin/hooks/run.sh
	TERMINUS_PACKAGING=1 TERMINUS_DIST='$(abspath $(wildcard $(BUILD)/dist))' $(GO) test -count 1 -timeout $(TEST_TIMEOUT) -v ./packaging/...

.PHONY: nix-check
nix-check: ## evaluate, check and build the flake without a network, against a stand-in for nixpkgs (needs nix)
	sh scripts/nix-check.sh

.PHONY: vendor-hash
vendor-hash: ## put the hash of the modules into nix/package.nix
	$(GO) run ./packaging/vendorhash -write

# The image, and a release that is built in a container: scripts/container.sh says with what.
IMAGE ?= localhost/terminus:$(VERSION)

.PHONY: image
image: ## build the container image of the last commit (needs docker or buildah)
	@sh scripts/container.sh image $(IMAGE) $(VERSION)

.PHONY: release-container
release-container: ## build every artefact of the last commit in a container, into build/dist-container (needs docker or buildah)
	@sh scripts/container.sh release $(BUILD)/dist-container $(VERSION)

.PHONY: container-check
container-check: ## build both with buildah over a Debian of our own, and use them (needs root, buildah, debootstrap)
	@GO='$(GO)' TEST_TIMEOUT='$(TEST_TIMEOUT)' BUILD='$(BUILD)' VERSION='$(VERSION)' TOOLS='$(TOOLS)' RELEASE_TOOLS='$(RELEASE_TOOLS)' \
		sh scripts/container-check.sh

.PHONY: full
full: test vet lint lint-workflows race cross-vet cross-build crash fuzz bench inspector test-claude release-check container-check packaging-check nix-check ## everything, as before a release (real-clients too, where they are named)
	@if [ -n '$(CLIENT_STORE)$(REAL_CLIENTS)' ]; then $(MAKE) --no-print-directory real-clients; fi

.PHONY: cross-build
cross-build: $(foreach os,$(OSES),$(foreach arch,$(ARCHS),cross-build-$(os)-$(arch))) ## build for every system and processor

cross-build-%:
	GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) $(GO) build -o $(BUILD)/cross/$*/ ./cmd/terminus

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BUILD)
