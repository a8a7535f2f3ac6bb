# `make` or `make help` lists what there is. Settings of the service are
# environment variables: MODEL_WEIGHTS=facebook/m2m100_418M make run

VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
BENCH     ?= .
FUZZTIME  ?= 1m

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
ERRCHECK    = github.com/kisielk/errcheck@v1.30.0
ACTIONLINT  = github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.8.0

# gin's MessagePack, which nothing uses, takes half as long to compile as the standard library. gRPC's trace pages use templates, which
# call methods by their names: no method of any type could be left out of the program, which would have 88 MB instead of 76.
export GOFLAGS := $(GOFLAGS) -tags=nomsgpack,grpcnotrace

# Tests are compiled more often than they are run: what debuggers need takes an eighth of the time to compile, inlining a third of
# that of other modules (but for wazero, which compiles PDFium for tests). Tests, vet and linters share what is compiled.
LEAN = export CGO_ENABLED=1 CGO_CFLAGS=-O2 GOFLAGS="$$GOFLAGS '-gcflags=all=-dwarf=false -l' -gcflags=std=-dwarf=false \
  -gcflags=dragoman/...=-dwarf=false -gcflags=github.com/tetratelabs/...=-dwarf=false"

.DEFAULT_GOAL := help
.PHONY: help run build runtime test race-test long-test linear-test k8s-test cluster-test check fmt bench bench-peers bench-fleet stress fuzz clients llm-test webtest files pdfs faults same catalogue-test fleet-test openapi-check openapi-test
.PHONY: all-tests other-cpu-test arm-test cuda-test image image-check image-test release release-test sbom vuln clean

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

run: ## build and serve on port 9527
	@scripts/compilers.sh
	@$(MAKE) --no-print-directory -j2 build runtime
	./build/dragoman serve

# Modules that wait for networks, or work once at the start: without inlining they compile in half of the time (go-redis 8 s instead of 16).
WAITING = github.com/redis/... github.com/quic-go/... go.mongodb.org/... github.com/goccy/... github.com/pelletier/... go.yaml.in/... \
  github.com/go-playground/... go.opentelemetry.io/... github.com/prometheus/... github.com/modelcontextprotocol/... \
  github.com/google/jsonschema-go/... github.com/segmentio/... github.com/spf13/...

build: ## build build/dragoman
	@scripts/compilers.sh
	CGO_ENABLED=1 CGO_CFLAGS=-O2 go build -trimpath -gcflags=all=-dwarf=false $(WAITING:%=-gcflags='%=-dwarf=false -l') \
	  -ldflags '-s -w -X main.version=$(VERSION)' -o build/dragoman ./app

runtime: ## fetch ONNX Runtime into build/onnxruntime
	@scripts/fetch_onnxruntime.sh

# Tests of services wait for each other and for disks: two packages for each core keep it busy. The longest tests begin first.
LONGEST = ./app/server ./app/api/httpapi ./app/fleet ./model/cpu
GO_TEST = go test -short -vet=off -ldflags=-w -p $$((2 * $$(getconf _NPROCESSORS_ONLN)))

test: runtime ## run the tests, with a sample of the longest goldens
	@$(LEAN) && status=0 && { $(GO_TEST) -timeout 15m $(LONGEST) ./... || status=$$?; }; \
	  command -v redis-server >/dev/null || echo "make: the tests of a real Redis were skipped: there is no redis-server (apt-get install redis-server)" >&2; \
	  exit $$status

# The packages whose code or tests start goroutines, serve, hold locks or use atomics. The tests of app/document/pdf render by
# PDFium, on one goroutine, and app/server has documents of PDF too.
CONCURRENT = $$(go list -f '{{.Dir}}' ./... | grep -v /app/document/pdf$$ | while read -r dir; do ! grep -qsE \
  '^[[:space:]]*go (func|[a-z])|\b(sync|atomic)\.|\.Go\(|t\.Parallel\(|httptest\.New[A-Za-z]*Server' "$$dir"/*.go || echo "$$dir"; done)
# Tests in them that do one thing after the other, thousands of them or all in C, and what is compiled with sanitizers instead.
ONE_BY_ONE = NameNoGo|NoRouteIsForOtherSites|FieldsAre|ArgumentsOfTools|GivesUp|IsGivenUp|ExamplesOfTheDocumentation|Formatting|Corpus|Int8Paths|Kernels|Golden|Invariance|HalfPrecision|Int8Of|Backends|PDFsAs

race-test: runtime ## run the tests of packages where something is concurrent with the race detector, and kernels with sanitizers
	$(LEAN) && $(GO_TEST) -race -timeout 30m -skip '$(ONE_BY_ONE)' $(LONGEST) $(CONCURRENT)
	$(LEAN) && go test -vet=off -ldflags=-w -run 'Sanitizers|Int8Paths/sanitizers' ./model/cpu/ops

# Where work must be linear, what is executed of the standard library counts, too.
COUNTED = strings,bytes,unicode/utf8

long-test: runtime ## run the tests without the race detector, with all goldens, and those of linear work with documents
	CGO_ENABLED=1 go test -timeout 20m ./...
	CGO_ENABLED=1 go test -timeout 30m -covermode=count -run Linear \
	  -coverpkg=./app/document/...,./app/text/markup,./app/text/char,./app/text/entity,github.com/yuin/goldmark/...,golang.org/x/net/html,github.com/go-json-experiment/json/...,$(COUNTED) ./app/document/kinds

linear-test: runtime ## measure how CPU time grows with 1 in SHARE (101) of texts that are hostile to a search in a loop (1: all, hours)
	$(LEAN) && DRAGOMAN_TIMED_WORK=$(or $(SHARE),101) go test -vet=off -ldflags=-w -count=1 -p 1 -timeout 60m -run 'TestTimeIsLinear$$' \
	  ./app/text/... ./app/translate ./app/api/dialect ./app/api/dropin/openai ./app/document/kinds ./tokenizer/...

k8s-test: runtime ## check the Kubernetes manifests, run their containers against a hub of this machine
	go -C scripts/k8s test -timeout 9m ./...

cluster-test: ## try the Kubernetes manifests on a control plane on loopback, which is built the first time (a quarter of an hour)
	scripts/k8s/cluster/build.sh build/cluster
	CLUSTER=$(CURDIR)/build/cluster go -C scripts/k8s test -count=1 -timeout 19m ./cluster

# Vet and the linters share with the tests what is compiled.
check: runtime ## what CI runs: format, vet, lint, tests, those with the race detector, of linear work and of what ships
	@files=$$(gofmt -l $$(go list -f '{{.Dir}}' ./...)); [ -z "$$files" ] || { gofmt -d $$files; exit 1; }
	$(LEAN) GOBIN=$(CURDIR)/build/lint && go install $(STATICCHECK) && go install $(ERRCHECK) && go install $(ACTIONLINT)
	build/lint/actionlint
	$(LEAN) && go vet ./... && \
	  build/lint/staticcheck ./... && build/lint/errcheck -exclude .ci/errcheck.txt ./...
	$(LEAN) && cd scripts/k8s && go vet ./... && \
	  ../../build/lint/staticcheck ./... && ../../build/lint/errcheck -exclude ../../.ci/errcheck.txt ./...
	$(MAKE) test
	$(MAKE) image-check
	$(MAKE) openapi-check
	$(MAKE) race-test
	$(LEAN) && go test -vet=off -ldflags=-w -covermode=count -coverpkg=./app/text/markup,./app/text/char,./app/text/entity,./app/text/segment,./app/api/dialect,./app/api/dropin/openai,./tokenizer/agenda,./tokenizer/moses,$(COUNTED) -run Linear ./app/text/lineartest ./app/text/markup ./app/text/segment ./app/api/dialect ./app/api/dropin/openai ./tokenizer/moses
	$(LEAN) && go -C scripts/k8s test -vet=off -ldflags=-w ./manifests ./lint

fmt: ## format the code
	gofmt -w $$(go list -f '{{.Dir}}' ./...)

bench: runtime ## run the benchmarks (BENCH=pattern)
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

bench-peers: ## compare with CTranslate2 and transformers (hours; see scripts/bench)
	scripts/bench/run.sh

bench-fleet: build runtime ## measure a fleet: ARGS=cost, table or limit, and their flags (redis-server)
	go run ./scripts/bench/fleet $(ARGS)

stress: ## stress a running service (ARGS="--rate 20 --duration 60")
	go run ./scripts/stress_test $(ARGS)

fuzz: ## fuzz each fuzz target for FUZZTIME (1m)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file"); do \
	    echo "$$(dirname "$$file") $$target"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" || exit 1; \
	  done; \
	done

clients: ## run published clients of LibreTranslate, DeepL and Triton against a server
	scripts/clients/run.sh

llm-test: build runtime ## translate by a tiny language model behind llama.cpp's server and transformers serve (6 GB; ARGS=llama: without the latter)
	scripts/llm/run.sh $(ARGS)

openapi-check: ## have openapi-spec-validator and Redocly look at the OpenAPI documents
	$(LEAN) && scripts/openapi/check.sh

openapi-test: build runtime ## have six generators make clients of the API, and translate with them (Java, Maven)
	scripts/openapi/test.sh

webtest: ## test the web page in Chromium
	scripts/webtest/run.sh

files: ## translate 2,000 real files, and ask the programs of their formats (root, Debian; ARGS="-only docx,odt")
	scripts/files/run.sh $(ARGS)

pdfs: ## translate PDFs of 30 producers, and compare them before and after (root, Debian; ARGS="typst fop")
	scripts/pdfs/run.sh $(ARGS)

faults: build runtime ## do to a running service what happens to services (ARGS="-run TestFaults/term")
	scripts/needs.sh redis-server redis-server
	go test -count=1 -v -timeout 30m ./scripts/faults -binary $(CURDIR)/build/dragoman $(ARGS)

same: VERSION = same
same: build runtime ## compare all that the program answers and writes with an older build (BASE=revision; redis-server; minutes)
	@scripts/needs.sh redis-server redis-server
	@old=build/same/$$(git rev-parse --short $(or $(BASE),HEAD)) && if [ ! -x $$old/build/dragoman ]; then \
	  rm -rf $$old && mkdir -p $$old && git archive $(or $(BASE),HEAD) | tar -x -C $$old && make -C $$old build VERSION=same; fi && \
	  ONNXRUNTIME_LIB=$(CURDIR)/build/onnxruntime/libonnxruntime.so go test -count=1 -timeout 30m ./scripts/same \
	  -old $(CURDIR)/$$old/build/dragoman -new $(CURDIR)/build/dragoman $(ARGS)

catalogue-test: ## compare answers of 24 models in memory for 4 with those of each alone (minutes)
	$(MAKE) faults ARGS="-run TestFaults/catalogue $(ARGS)"

fleet-test: ## have members of a fleet, Redis and the network fail (redis-server; minutes; ARGS="-seed 2 -artifacts")
	$(MAKE) faults ARGS="-run TestFaults/fleet $(ARGS)"

# What make check has no time for. image-check and openapi-check are in it.
all-tests: ## run each of the tests that make check leaves out, and end with a table (hours; TARGETS="webtest faults")
	@scripts/all_tests.sh $(or $(TARGETS),image-test k8s-test cluster-test clients llm-test openapi-test webtest files pdfs faults fleet-test catalogue-test long-test linear-test arm-test cuda-test)

other-cpu-test: runtime ## test what computes on emulated CPUs (CPUS="Nehalem Haswell"; hours)
	scripts/other_cpu_test.sh

arm-test: ## test the operators on emulated Arm CPUs (CPUS="max cortex-a72"; qemu-user, gcc-aarch64-linux-gnu)
	scripts/other_cpu_test.sh arm64 model/cpu/ops

cuda-test: build ## test DEVICE=cuda without a GPU, on stand-ins for NVIDIA's libraries (fetches 180 MB)
	scripts/cuda_test.sh

image: ## build the container image (TARGET=cuda: with CUDA's libraries)
	VERSION=$(VERSION) scripts/image/build.sh

image-check: ## check the steps of the Dockerfile, and NOTICE, without building the image
	$(LEAN) && scripts/image/check.sh

image-test: ## build and try the image without a container engine (root, Debian 12)
	VERSION=$(VERSION) scripts/image/test.sh

release-test: ## make archives and packages twice, and compare, install and try them (root; qemu-user, wine64)
	VERSION=$(VERSION) scripts/release/test.sh $(PLATFORMS)

release: ## make archives and packages for Linux, macOS and Windows in build/release (Linux; PLATFORMS="linux-amd64 ...")
	VERSION=$(VERSION) scripts/release/build.sh $(PLATFORMS)

sbom: ## write build/sbom.cdx.json, what the binary is made of
	VERSION=$(VERSION) scripts/image/sbom.sh

vuln: ## look for known vulnerabilities (VULNDB=url: in a mirror of the database)
	go run $(GOVULNCHECK) $(if $(VULNDB),-db $(VULNDB)) ./...

clean: ## remove what was built
	rm -rf build bin
