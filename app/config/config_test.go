package config

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
	"dragoman/model"
	"dragoman/model/search"
)

func TestParseDefaults(t *testing.T) {
	cfg, err := Parse(nil)
	require.NoError(t, err)
	assert.Equal(t, Config{
		Host: "0.0.0.0", Port: 9527, GRPCPort: DefaultGRPCPort, Concurrency: 1024, BatchSize: 80,
		Role: All, BrokerPrefix: "dragoman",
		PrefillTokens: 512, QueueTokens: 65536, QueueWait: 30 * time.Second, CacheBytes: 64 << 20,
		Verify:     "changed",
		Device:     Auto,
		MaxBeams:   8,
		MaxRecords: 1024, MaxChars: 100_000, MaxSentences: 50_000, MaxTokens: 1_000_000, MaxBodyBytes: 4 << 20, RequestMemory: 512 << 20,
		JobTTL: 24 * time.Hour, JobConcurrency: 2, JobMaxRecords: 100_000, JobMaxChars: 1_000_000, JobMaxBytes: 64 << 20, DocumentMaxBytes: 32 << 20, DocumentMaxTexts: 500_000, JobStorage: 2 << 30, JobsPerKey: 100,
		GlossaryMaxTerms: 10_000, GlossaryMaxBytes: 1 << 20, GlossariesPerKey: 100,
		MemoryMaxEntries: 1_000_000, MemoryMaxBytes: 1 << 30, MemoriesPerKey: 100,
		LiveSessions: 1000, LiveMaxChars: 20_000, LiveIdle: 5 * time.Minute,
		RequestTimeout: 5 * time.Minute, ShutdownTimeout: 30 * time.Second, CORSDropIns: true, Shortlist: true, Scripts: Automatic,
		LogLevel: slog.LevelInfo, LogFormat: "text", AutoPullStorage: 20 << 30,
	}, cfg)
}

func TestParseValues(t *testing.T) {
	cfg, err := Parse([]string{
		"APP_HOST=::1", "APP_PORT=0", "GRPC_PORT=9001", "TLS_CERT_FILE=/tls.crt", "TLS_KEY_FILE=/tls.key", "TLS_CLIENT_CA_FILE=/ca.crt", "APP_WORKERS=4", "APP_CONCURRENCY=2", "BATCH_SIZE=5",
		"ROLE=worker", "BROKER_URL=rediss://:secret@redis:6379/2", "BROKER_PREFIX=fleet.2",
		"KV_MEMORY=1.5GiB", "PREFILL_TOKENS=64", "QUEUE_TOKENS=1000", "QUEUE_WAIT=0", "CACHE_BYTES=0",
		"MODEL_WEIGHTS=facebook/m2m100_418M", "MODEL_REVISION=abc", "SAVE_WEIGHTS=/weights", "KEEP_CHECKPOINT=Yes",
		"MODEL_VERIFY=always", "MODEL_REPOSITORY=/models,more models", "MODEL_FAMILY=nllb",
		"PRECISION=fp32", "DEVICE=cuda", "CUDA_DEVICES=0,2", "THREADS=3", "ONNXRUNTIME_LIB=/lib/ort.so",
		"HF_TOKEN=secret=with=signs", "HF_ENDPOINT=https://mirror", "HF_HUB_OFFLINE=ON", "FIREFOX_MODELS=https://mirror/records", "SHORTLIST=false", "TARGET_SCRIPTS=true",
		"NUM_BEAMS=1", "MAX_LENGTH=64", "MAX_RECORDS=7", "MAX_BODY_BYTES=1000", "MAX_SENTENCES=8", "MAX_TOKENS=9", "REQUEST_MEMORY=1GiB",
		"MAX_BEAMS=4", "MAX_LENGTH_LIMIT=500", "MAX_CHARS=99", "API_KEYS_FILE=/keys", "RATE_LIMIT=10/s", "RATE_BURST=20",
		"CHAR_LIMIT=100000/m", "TRUSTED_PROXIES=10.0.0.0/8,::1", "CORS_ORIGINS=https://a.example,https://b.example", "CORS_DROP_INS=off", "PPROF_ADDR=:6060",
		"JOB_FILE=/jobs.db", "JOB_TTL=1h", "JOB_CONCURRENCY=3", "JOB_MAX_RECORDS=11", "JOB_MAX_CHARS=12", "JOB_MAX_BYTES=1MiB", "DOCUMENT_MAX_BYTES=2MiB", "DOCUMENT_MAX_TEXTS=12000", "JOB_STORAGE=1GiB", "JOBS_PER_KEY=13",
		"GLOSSARY_FILE=/glossaries.db", "GLOSSARY_MAX_TERMS=14", "GLOSSARY_MAX_BYTES=2KiB", "GLOSSARIES_PER_KEY=15",
		"MEMORY_FILE=/memories.db", "MEMORY_MAX_ENTRIES=16", "MEMORY_MAX_BYTES=3KiB", "MEMORIES_PER_KEY=17",
		"FLEET_SECRET=0123456789abcdef0123456789abcdef,none",
		"JOB_WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "JOB_WEBHOOK_PRIVATE=1",
		"LIVE_SESSIONS=7", "LIVE_MAX_CHARS=900", "LIVE_IDLE=1m",
		"REQUEST_TIMEOUT=1m30s", "SHUTDOWN_TIMEOUT=5s", "LOG_LEVEL=DEBUG", "LOG_FORMAT=json",
		"AUTO_PULL=firefox,opus", "AUTO_PULL_LANGUAGES=en,de", "AUTO_PULL_STORAGE=3GiB", "UNRELATED=1",
	})
	require.NoError(t, err)
	assert.Equal(t, Config{
		AutoPull: []string{"firefox", "opus"}, AutoPullLanguages: []string{"en", "de"}, AutoPullStorage: 3 << 30,
		Host: "::1", Port: 0, GRPCPort: 9001, TLSCert: "/tls.crt", TLSKey: "/tls.key", TLSClientCA: "/ca.crt", Workers: 4, Concurrency: 2, BatchSize: 5,
		Role: Worker, BrokerURL: "rediss://:secret@redis:6379/2", BrokerPrefix: "fleet.2",
		FleetSecret: []string{"0123456789abcdef0123456789abcdef", "none"},
		Verify:      "always",
		KVMemory:    3 << 29, PrefillTokens: 64, QueueTokens: 1000,
		Weights: "facebook/m2m100_418M", Revision: "abc", SaveWeights: "/weights", KeepCheckpoint: true, Family: "nllb",
		Repositories: []string{"/models", "more models"},
		Precision:    "fp32", Device: CUDA, CUDADevices: []int{0, 2}, Threads: 3, Library: "/lib/ort.so",
		Token: "secret=with=signs", Endpoint: "https://mirror", ModelIndex: "https://mirror/records", Offline: true, Scripts: Yes,
		Beams: 1, MaxLength: 64, MaxBeams: 4, MaxLengthLimit: 500, MaxRecords: 7, MaxChars: 99, MaxSentences: 8, MaxTokens: 9, MaxBodyBytes: 1000, RequestMemory: 1 << 30,
		KeysFile: "/keys", RateLimit: access.Rate{N: 10, Per: time.Second}, RateBurst: 20,
		CharLimit: access.Rate{N: 100_000, Per: time.Minute}, TrustedProxies: []string{"10.0.0.0/8", "::1"},
		CORSOrigins: []string{"https://a.example", "https://b.example"}, PprofAddr: ":6060",
		AsksJobs: true, AsksGlossaries: true, AsksMemories: true,
		JobFile: "/jobs.db", JobTTL: time.Hour, JobConcurrency: 3, JobMaxRecords: 11, JobMaxChars: 12, JobMaxBytes: 1 << 20, DocumentMaxBytes: 2 << 20, DocumentMaxTexts: 12_000, JobStorage: 1 << 30, JobsPerKey: 13,
		GlossaryFile: "/glossaries.db", GlossaryMaxTerms: 14, GlossaryMaxBytes: 2 << 10, GlossariesPerKey: 15,
		MemoryFile: "/memories.db", MemoryMaxEntries: 16, MemoryMaxBytes: 3 << 10, MemoriesPerKey: 17,
		JobWebhookSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", JobWebhookPrivate: true,
		LiveSessions: 7, LiveMaxChars: 900, LiveIdle: time.Minute,
		RequestTimeout: 90 * time.Second, ShutdownTimeout: 5 * time.Second,
		LogLevel: slog.LevelDebug, LogFormat: "json",
	}, cfg)
}

// Compose files pass unset variables on as empty ones.
func TestParseTakesEmptyAsUnset(t *testing.T) {
	var environ []string
	for _, v := range Variables() {
		environ = append(environ, v.Name+"=")
	}
	got, err := Parse(environ)
	require.NoError(t, err)
	want, err := Parse(nil)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct {
		environ string // variables, separated by spaces
		want    string // of the error, after "configuration: "
	}{
		{"APP_PORT=http", `APP_PORT="http": use a whole number`},
		{"APP_PORT=70000", `APP_PORT=70000: use 0 to 65535`},
		{"APP_PORT=-1", `APP_PORT=-1: use 0 to 65535`},
		{"APP_PORT=9999999999999999999999", `APP_PORT="9999999999999999999999": use a whole number`},
		{"TLS_KEY_FILE=/key", `TLS_CERT_FILE and TLS_KEY_FILE belong together: set both, or none`},
		{"TLS_CLIENT_CA_FILE=/ca", `TLS_CLIENT_CA_FILE needs TLS: set TLS_CERT_FILE and TLS_KEY_FILE`},
		{"GRPC_PORT=70000", `GRPC_PORT=70000: use 0 to 65535`},
		{"APP_WORKERS=-1", `APP_WORKERS=-1: use 0 to 64`},
		{"APP_WORKERS=65", `APP_WORKERS=65: use 0 to 64`},
		{"PREFILL_TOKENS=0", `PREFILL_TOKENS=0: use 1 to 1048576`},
		{"QUEUE_TOKENS=0", `QUEUE_TOKENS=0: use 1 to 1073741824`},
		{"QUEUE_TOKENS=64k", `QUEUE_TOKENS="64k": use a whole number`},
		{"KV_MEMORY=2", `KV_MEMORY=2 bytes: use 0, or 1 MiB to 1 TiB`},
		{"KV_MEMORY=2TiB", `KV_MEMORY=2199023255552 bytes: use 0, or 1 MiB to 1 TiB`},
		{"CACHE_BYTES=64", `CACHE_BYTES=64 bytes: use 0, or 64 KiB to 1 TiB`},
		{"CACHE_BYTES=-1", `CACHE_BYTES="-1": use a number of bytes, such as 1000000 or 64MiB`},
		{"CACHE_BYTES=64MeB", `CACHE_BYTES="64MeB": use a number of bytes, such as 1000000 or 64MiB`},
		{"CACHE_BYTES=MiB", `CACHE_BYTES="MiB": use a number of bytes, such as 1000000 or 64MiB`},
		{"CACHE_BYTES=16EiB", `CACHE_BYTES="16EiB": use a number of bytes, such as 1000000 or 64MiB`},
		{"CACHE_BYTES=15EiB", `CACHE_BYTES="15EiB": use a number of bytes, such as 1000000 or 64MiB`},
		{"APP_CONCURRENCY=0", `APP_CONCURRENCY=0: use 1 to 1048576`},
		{"BATCH_SIZE=0", `BATCH_SIZE=0: use 1 to 65536`},
		{"BATCH_SIZE=1.5", `BATCH_SIZE="1.5": use a whole number`},
		{"THREADS=-1", `THREADS=-1: use 0 to 4096`},
		{"NUM_BEAMS=-5", `NUM_BEAMS=-5: use 0 to 1024`},
		{"MAX_LENGTH=-5", `MAX_LENGTH=-5: use 0 to 1048576`},
		{"MAX_RECORDS=0", `MAX_RECORDS=0: use 1 to 1048576`},
		{"MAX_BEAMS=0", `MAX_BEAMS=0: use 1 to 1024`},
		{"MAX_LENGTH_LIMIT=-1", `MAX_LENGTH_LIMIT=-1: use 0 to 1048576`},
		{"MAX_CHARS=0", `MAX_CHARS=0: use 1 to 1073741824`},
		{"RATE_LIMIT=10", `RATE_LIMIT="10": use a number and a unit of time, such as 10/s or 600/m, or unlimited`},
		{"RATE_BURST=5", `RATE_LIMIT, RATE_BURST, CHAR_LIMIT, TOKEN_LIMIT: a burst of 5 requests without a rate of requests: set both, or none`},
		{"TRUSTED_PROXIES=0.0.0.0/0", `TRUSTED_PROXIES: 0.0.0.0/0 is everybody: name the networks of the proxies`},
		{"ALLOWED_HOSTS=https://example.com", `ALLOWED_HOSTS: "https://example.com" is not a host's name: use such as translate.example.com, without a scheme and a port, or *.example.com`},
		{"CORS_ORIGINS=example.com", `CORS_ORIGINS: "example.com" is not an origin: use a scheme and a host, such as https://app.example.com or https://*.example.com`},
		{"MAX_BODY_BYTES=0", `MAX_BODY_BYTES=0: use 64 to 4294967296`},
		{"REQUEST_TIMEOUT=30", `REQUEST_TIMEOUT="30": use a time with its unit, such as 30s or 5m`},
		{"REQUEST_TIMEOUT=-1s", `REQUEST_TIMEOUT=-1s: use a time above 0, such as 30s`},
		{"SHUTDOWN_TIMEOUT=0s", `SHUTDOWN_TIMEOUT=0s: use a time above 0, such as 30s`},
		{"PRECISION=int4", `PRECISION="int4": use auto, int8, fp32 or fp16`},
		{"PRECISION=INT8", `PRECISION="INT8": use auto, int8, fp32 or fp16`},
		{"REQUEST_MEMORY=64", `REQUEST_MEMORY=64 bytes: use 128 MiB or more, or lower MAX_BODY_BYTES`},
		{"MAX_BODY_BYTES=33554432", `REQUEST_MEMORY=536870912 bytes: use 1.0 GiB or more, or lower MAX_BODY_BYTES`},
		{"MAX_LENGTH=1", `MAX_LENGTH=1: use 0, or 3 and more: two tokens stand before the translation`},
		{"MAX_LENGTH_LIMIT=2", `MAX_LENGTH_LIMIT=2: use 0, or 3 and more: two tokens stand before the translation`},
		{"DEVICE=tpu", `DEVICE="tpu": use auto, cpu or cuda`},
		{"DEVICE=cuda PRECISION=int8", `PRECISION=int8 with DEVICE=cuda: 8 bits are for CPUs, use auto, fp16 or fp32`},
		{"DEVICE=cpu CUDA_DEVICES=0,1", `CUDA_DEVICES=0,1: no GPU is used with DEVICE=cpu`},
		{"CUDA_DEVICES=0 PRECISION=int8", `PRECISION=int8 with DEVICE=cuda: 8 bits are for CPUs, use auto, fp16 or fp32`},
		{"CUDA_DEVICES=0,1,0", `CUDA_DEVICES=0,1,0: use numbers from 0 on, each once`},
		{"CUDA_DEVICES=-1", `CUDA_DEVICES=-1: use numbers from 0 on, each once`},
		{"CUDA_DEVICES=first", `CUDA_DEVICES="first": use whole numbers with commas between, such as 0,1`},
		{"LOG_LEVEL=loud", `LOG_LEVEL="loud": use debug, info, warn or error`},
		{"MODEL_VERIFY=sometimes", `MODEL_VERIFY="sometimes": use changed, always or never`},
		{"QUEUE_WAIT=-1s", `QUEUE_WAIT=-1s: use 0 for no bound, or a time such as 2s`},
		{"MODEL_REPOSITORY=/a,,/b", `MODEL_REPOSITORY="/a,,/b": use folders with commas between, such as /models,/more`},
		{"AUTO_PULL=firefox,argos", `AUTO_PULL="argos": use firefox, opus or both with a comma between`},
		{"AUTO_PULL_STORAGE=1KiB", `AUTO_PULL_STORAGE=1024 bytes: use 1 MiB to 1 TiB`},
		{"ROLE=boss", `ROLE="boss": use all, gateway or worker`},
		{"ROLE=gateway", `ROLE=gateway needs BROKER_URL: set it to a Redis, such as redis://localhost:6379`},
		{"BROKER_URL=http://:secret@redis", `BROKER_URL: use a URL such as redis://localhost:6379, rediss:// for TLS, or unix:///path`},
		{"BROKER_PREFIX={a}", `BROKER_PREFIX="{a}": use 1 to 64 letters, digits and . _ : -, the first of them a letter or digit`},
		{"FLEET_SECRET=short", "FLEET_SECRET: use 32 to 256 characters, such as what `openssl rand -hex 32` prints, or several different ones with commas between"},
		{"FLEET_SECRET=none,none", "FLEET_SECRET: use 32 to 256 characters, such as what `openssl rand -hex 32` prints, or several different ones with commas between"},
		{"LIVE_SESSIONS=-1", `LIVE_SESSIONS=-1: use 0 to 1048576`},
		{"LIVE_MAX_CHARS=0", `LIVE_MAX_CHARS=0: use 1 to 1048576`},
		{"LIVE_IDLE=0s", `LIVE_IDLE=0s: use a time above 0, such as 30s`},
		{"JOB_TTL=0s", `JOB_TTL=0s: use a time above 0, such as 24h`},
		{"JOB_CONCURRENCY=0", `JOB_CONCURRENCY=0: use 1 to 1024`},
		{"JOB_MAX_RECORDS=0", `JOB_MAX_RECORDS=0: use 1 to 16777216`},
		{"JOB_MAX_CHARS=0", `JOB_MAX_CHARS=0: use 1 to 1073741824`},
		{"JOB_MAX_BYTES=128MiB", `JOB_MAX_BYTES=134217728 bytes: use 64 bytes to 64 MiB, or raise REQUEST_MEMORY`},
		{"DOCUMENT_MAX_BYTES=64MiB", `DOCUMENT_MAX_BYTES=67108864 bytes: use 64 bytes to 35 MiB, or raise REQUEST_MEMORY`},
		{"DOCUMENT_MAX_BYTES=63", `DOCUMENT_MAX_BYTES=63 bytes: use 64 bytes to 35 MiB, or raise REQUEST_MEMORY`},
		{"JOB_MAX_BYTES=63", `JOB_MAX_BYTES=63 bytes: use 64 bytes to 64 MiB, or raise REQUEST_MEMORY`},
		{"JOB_STORAGE=2", `JOB_STORAGE=2 bytes: use 1 MiB to 1 TiB`},
		{"JOBS_PER_KEY=0", `JOBS_PER_KEY=0: use 1 to 1048576`},
		{"GLOSSARIES_PER_KEY=0", `GLOSSARIES_PER_KEY=0: use 1 to 65536`},
		{"GLOSSARY_MAX_TERMS=-1", `GLOSSARY_MAX_TERMS=-1: use 1 to 1048576`},
		{"GLOSSARY_MAX_BYTES=0", `GLOSSARY_MAX_BYTES=0 bytes: use 1KiB to 64MiB`},
		{"MEMORIES_PER_KEY=0", `MEMORIES_PER_KEY=0: use 1 to 65536`},
		{"MEMORY_MAX_ENTRIES=0", `MEMORY_MAX_ENTRIES=0: use 1 to 10000000`},
		{"MEMORY_MAX_BYTES=1", `MEMORY_MAX_BYTES=1 bytes: use 1KiB to 16GiB`},
		{"GLOSSARY_MAX_BYTES=1GiB", `GLOSSARY_MAX_BYTES=1073741824 bytes: use 1KiB to 64MiB`},
		{"JOB_WEBHOOK_SECRET=secret", "JOB_WEBHOOK_SECRET: use whsec_ and 24 to 64 random bytes in base64, such as what `echo whsec_$(openssl rand -base64 32)` prints"},
		{"JOB_WEBHOOK_SECRET=whsec_c2hvcnQ=", "JOB_WEBHOOK_SECRET: use whsec_ and 24 to 64 random bytes in base64, such as what `echo whsec_$(openssl rand -base64 32)` prints"},
		{"JOB_WEBHOOK_PRIVATE=x", `JOB_WEBHOOK_PRIVATE="x": use true or false`},
		{"LOG_FORMAT=xml", `LOG_FORMAT="xml": use text or json`},
		{"TARGET_SCRIPTS=maybe", `TARGET_SCRIPTS="maybe": use auto, true or false`},
		{"HF_HUB_OFFLINE=maybe", `HF_HUB_OFFLINE="maybe": use true or false`},
		{"MODEL_REVISION=main", `MODEL_REVISION="main": the bundled model has no revisions, set MODEL_WEIGHTS too`},
		{"APP_PORT=x THREADS=y", `APP_PORT="x": use a whole number; THREADS="y": use a whole number`},
		{"APP_PORT=-1 DEVICE=tpu", `APP_PORT=-1: use 0 to 65535; DEVICE="tpu": use auto, cpu or cuda`},
	} {
		t.Run(test.environ, func(t *testing.T) {
			_, err := Parse(strings.Fields(test.environ))
			assert.EqualError(t, err, "configuration: "+test.want)
		})
	}
}

// Misspelt variables are reported; variables of other programs are not.
func TestMisspelt(t *testing.T) {
	assert.Equal(t, map[string]string{
		"NUM_BEAM": "NUM_BEAMS", "APP_PRT": "APP_PORT", "APP_PROT": "APP_PORT", "GLOSARY_FILE": "GLOSSARY_FILE", "MODEL_WEIGTH": "MODEL_WEIGHTS", "app_port": "APP_PORT",
		"API_PORT": "APP_PORT", "TSL_CERT_FILE": "TLS_CERT_FILE", "TLS_CERTFILE": "TLS_CERT_FILE", "BORKER_URL": "BROKER_URL", "NUMBEAMS": "NUM_BEAMS",
		"PORT": "APP_PORT", "DRAGOMAN_PORT": "APP_PORT", "DRAGOMAN_HOST": "APP_HOST", "DRAGOMAN_MODEL_WEIGHTS": "MODEL_WEIGHTS",
	}, Misspelt([]string{
		"NUM_BEAM=1", "APP_PRT=2", "APP_PROT=2", "GLOSARY_FILE=x", "MODEL_WEIGTH=x", "app_port=80",
		"API_PORT=80", "TSL_CERT_FILE=x", "TLS_CERTFILE=x", "BORKER_URL=redis://x", "NUMBEAMS=2", "PORT=8080", "DRAGOMAN_PORT=80", "DRAGOMAN_HOST=::1", "DRAGOMAN_MODEL_WEIGHTS=x",
		"APP_PORT=1", "NUM_BEAMS=2", "MODEL_VERIFI= ",
	}))
	for of, names := range map[string]string{
		"systems":       "PATH HOME HOST LANG TERM LOGNAME TZ HOSTNAME SHELL PWD XDG_DATA_HOME LD_LIBRARY_PATH MALLOC_ARENA_MAX HTTPS_PROXY NO_PROXY LISTEN_FDS",
		"Go":            "SSL_CERT_FILE SSL_CERT_DIR GODEBUG GOMAXPROCS GOMEMLIMIT GOGC GOTRACEBACK",
		"other TLS":     "SSL_KEY_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS",
		"gin, gRPC":     "GIN_MODE GRPC_TRACE GRPC_VERBOSITY GRPC_GO_LOG_SEVERITY_LEVEL",
		"ONNX Runtime":  "OMP_NUM_THREADS ORT_LOG_LEVEL CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER NVIDIA_VISIBLE_DEVICES",
		"OpenTelemetry": "OTEL_SERVICE_NAME OTEL_LOG_LEVEL OTEL_TRACES_SAMPLER OTEL_EXPORTER_OTLP_ENDPOINT",
		"Hugging Face":  "HF_HOME HF_HUB_CACHE HF_TOKEN_PATH TRANSFORMERS_OFFLINE",
		"others":        "WORKER_URL APP_ENV APP_ROOT JOB JOB_COMPLETION_INDEX POD_IP",
		"Kubernetes":    "KUBERNETES_PORT KUBERNETES_SERVICE_HOST REDIS_PORT DRAGOMAN_SERVICE_HOST DRAGOMAN_SERVICE_PORT",
		"service links": "DRAGOMAN_PORT API_PORT RPC_PORT GRPC2_PORT API_PORT_80_TCP API_SERVICE_PORT",
	} {
		for name := range strings.FieldsSeq(names) {
			value := "x"
			if of == "service links" {
				value = "tcp://10.0.0.1:80"
			}
			assert.Empty(t, Misspelt([]string{name + "=" + value}), of)
		}
	}
	for _, v := range Variables() {
		assert.Empty(t, Misspelt([]string{v.Name + "=x"}))
	}
}

// Variables that Kubernetes and Docker set for services of any name are not settings, and not misspelt ones.
func TestServiceLinks(t *testing.T) {
	want, err := Parse(nil)
	require.NoError(t, err)
	for _, v := range Variables() {
		for i, r := range v.Name + "_" {
			if r != '_' {
				continue
			}
			service := v.Name[:i]
			var environ []string
			for name, value := range map[string]string{
				"SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "80", "SERVICE_PORT_HTTP": "80", "PORT": "tcp://10.0.0.1:80", "NAME": "/a/b",
				"PORT_80_TCP": "tcp://10.0.0.1:80", "PORT_80_TCP_PROTO": "tcp", "PORT_80_TCP_PORT": "80", "PORT_80_TCP_ADDR": "10.0.0.1",
				"PORT_53_UDP": "udp://10.0.0.1:53", "PORT_53_SCTP": "sctp://10.0.0.1:53",
			} {
				environ = append(environ, service+"_"+name+"="+value)
			}
			cfg, err := Parse(environ)
			require.NoError(t, err, service)
			assert.Equal(t, want, cfg, service)
			assert.Empty(t, Misspelt(environ), service)
		}
	}
	for _, link := range []string{"tcp://10.0.0.1:9528", "udp://10.0.0.1:53", "sctp://[fd00::1]:80"} {
		environ := []string{"GRPC_PORT=" + link, "APP_PORT=" + link, "API_PORT=" + link, "APP_HOST=127.0.0.1"}
		cfg, err := Parse(environ)
		require.NoError(t, err)
		assert.Equal(t, []int{want.Port, want.GRPCPort}, []int{cfg.Port, cfg.GRPCPort})
		assert.Equal(t, []string{"APP_PORT", "GRPC_PORT"}, ServiceLinks(environ))
	}
	assert.Empty(t, ServiceLinks([]string{"APP_PORT=9527", "GRPC_PORT=", "APP_PORTS=tcp://a:1"}))
	_, err = Parse([]string{"APP_PORT=http://localhost:9527"})
	assert.Error(t, err, "people write such a thing")
}

func TestAsks(t *testing.T) {
	for variable, want := range map[string][3]bool{"JOB_TTL=1h": {true}, "JOBS_PER_KEY=3": {true}, "GLOSSARIES_PER_KEY=3": {1: true}, "MEMORIES_PER_KEY=3": {2: true}, "MEMORY_FILE=/m": {2: true}, "JOB_TTL=": {}, "JOB=1": {}, "APP_PORT=1": {}} {
		cfg, err := Parse([]string{variable})
		require.NoError(t, err)
		assert.Equal(t, want, [3]bool{cfg.AsksJobs, cfg.AsksGlossaries, cfg.AsksMemories}, variable)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "65536": 65536, "64MiB": 64 << 20, "64mib": 64 << 20, "64Mi": 64 << 20, "64 MiB": 64 << 20,
		"64MB": 64e6, "64M": 64e6, "1.5GiB": 3 << 29, " 1Ti\t": 1 << 40, "1,000,000": 1e6,
	} {
		t.Run(text, func(t *testing.T) {
			cfg, err := Parse([]string{"CACHE_BYTES=" + text})
			require.NoError(t, err)
			assert.Equal(t, want, cfg.CacheBytes)
		})
	}
}

// The table in docs/configuration.md matches the struct, line for line.
func TestDocumentedTable(t *testing.T) {
	readme, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	table := "| variable | default | meaning |\n|---|---|---|\n"
	for _, v := range Variables() {
		require.NotEmpty(t, v.Help, v.Name)
		value := ""
		if v.Default != "" {
			value = "`" + v.Default + "`"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", v.Name, value, v.Help)
	}
	assert.Contains(t, string(readme), table, "put this table into docs/configuration.md:\n%s", table)
}

func TestShare(t *testing.T) {
	small := model.Spec{VocabSize: 8000, DModel: 256}
	large := model.Spec{VocabSize: 128112, DModel: 1024}
	for name, test := range map[string]struct {
		config           Config
		spec             model.Spec
		cores            int
		workers, threads int
	}{
		"small: one for each core":       {Config{}, small, 4, 4, 1},
		"small: 8 at most":               {Config{}, small, 200, 8, 25},
		"large: one on all cores":        {Config{}, large, 8, 1, 8},
		"workers share the cores":        {Config{Workers: 3}, small, 8, 3, 2},
		"more workers than cores":        {Config{Workers: 3}, large, 2, 3, 1},
		"threads are those of a worker":  {Config{Workers: 2, Threads: 5}, large, 8, 2, 5},
		"threads do not change the rest": {Config{Threads: 2}, small, 4, 4, 2},
	} {
		t.Run(name, func(t *testing.T) {
			workers, threads := test.config.Share(test.spec, test.cores)
			assert.Equal(t, []int{test.workers, test.threads}, []int{workers, threads})
		})
	}
}

func TestLimits(t *testing.T) {
	for name, test := range map[string]struct {
		config           Config
		beams, maxLength int
	}{
		"the model's positions":         {Config{MaxBeams: 8}, 8, 1000},
		"never less than the default's": {Config{MaxBeams: 2, MaxLengthLimit: 50}, 5, 200},
		"as configured":                 {Config{MaxBeams: 6, MaxLengthLimit: 300}, 6, 300},
		"never more than the model has": {Config{MaxBeams: 8, MaxLengthLimit: 5000}, 8, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			beams, maxLength := test.config.Limits(search.Options{Beams: 5, MaxLength: 200}, 1000)
			assert.Equal(t, []int{test.beams, test.maxLength}, []int{beams, maxLength})
		})
	}
}
