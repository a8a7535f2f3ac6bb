// Package config parses the configuration of the service: one [Config], read from the environment once and validated, so that the
// rest of the program never reads the environment.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"dragoman/app/guard/access"
	"dragoman/app/text/spelling"
	"dragoman/model"
)

// DefaultGRPCPort is the default of GRPC_PORT.
const DefaultGRPCPort = 8001

// Config is the whole configuration. [Parse] returns it with valid values only. The help tags are the text of
// docs/configuration.md and of `dragoman help`, the use tags are the valid values, see [rule].
type Config struct {
	Host        string `env:"APP_HOST" envDefault:"0.0.0.0" help:"address to listen on"`
	Port        int    `env:"APP_PORT" envDefault:"9527" use:"0 to 65535" help:"port to listen on; 0 takes a free one and logs it"`
	GRPCPort    int    `env:"GRPC_PORT" envDefault:"8001" use:"0 to 65535" help:"port for [gRPC](api.md#grpc); 0: none. Where 8001 is taken there is none either, and the log says so"`
	TLSCert     string `env:"TLS_CERT_FILE" help:"certificate, in PEM with all up to the authority, for HTTPS and gRPC; read again when it changes"`
	TLSKey      string `env:"TLS_KEY_FILE" help:"key of it"`
	TLSClientCA string `env:"TLS_CLIENT_CA_FILE" help:"authorities whose certificates clients must have; empty: clients need none"`
	Workers     int    `env:"APP_WORKERS" envDefault:"0" use:"0 to 64" help:"copies of the model that decode in parallel, at most 64; 0: one, or for a small model one for each core, up to 8. On GPUs: copies on each GPU, 0: one"`
	Concurrency int    `env:"APP_CONCURRENCY" envDefault:"1024" use:"1 to 1048576" help:"most requests at a time; further ones get 503. A caller gets at most three quarters of the places that others leave"`

	// Role is All after Parse if ROLE is not set.
	Role         Role   `env:"ROLE" envDefault:"all" use:"all, gateway or worker" help:"all; gateway (takes requests and has no models); worker (has models, and decodes for gateways)"`
	BrokerURL    string `env:"BROKER_URL" help:"Redis or Valkey between gateways and workers: redis://, rediss:// (TLS) or unix://; with ?master_name=NAME&addr=HOST:PORT for Sentinel, with ?addr=HOST:PORT for Cluster"`
	BrokerPrefix string `env:"BROKER_PREFIX" envDefault:"dragoman" help:"beginning of the keys in Redis, so that several fleets can share one"`
	// FleetSecret has only valid secrets after Parse.
	FleetSecret []string `env:"FLEET_SECRET" envDefault:"" help:"secret of 32 to 256 characters by which gateways and workers sign what they send through Redis, such as what 'openssl rand -hex 32' prints; several with commas between while it changes: the first signs, all are believed; none: no signature; empty: nothing is signed"`

	BatchSize     int           `env:"BATCH_SIZE" envDefault:"80" use:"1 to 65536" help:"rows that a caller decodes together in a worker, several callers a third more; a sentence takes NUM_BEAMS rows, and one always fits"`
	KVMemory      Size          `env:"KV_MEMORY" envDefault:"0" use:"0, or 1 MiB to 1 TiB" help:"memory for a worker's KV cache, such as 2GiB; 0: what BATCH_SIZE rows of the greatest length need, which a GPU reserves at the start"`
	PrefillTokens int           `env:"PREFILL_TOKENS" envDefault:"512" use:"1 to 1048576" help:"source tokens that may join a step while others decode; fewer keep steps short, more fill a batch sooner"`
	QueueTokens   int           `env:"QUEUE_TOKENS" envDefault:"65536" use:"1 to 1073741824" help:"source tokens that may wait to be decoded; requests hand over their texts in parts"`
	QueueWait     time.Duration `env:"QUEUE_WAIT" envDefault:"30s" use:"0 for no bound, or a time such as 2s" help:"longest time that a request may wait for others; one that would wait longer gets 503 at once; 0: no limit"`
	CacheBytes    Size          `env:"CACHE_BYTES" envDefault:"64MiB" use:"0, or 64 KiB to 1 TiB" help:"memory for the cache of translations, such as 64MiB; 0: off"`

	Repositories []string      `env:"MODEL_REPOSITORY" envDefault:"" help:"repositories of models, separated by commas: folders with NAME/VERSION/, each an exported model; instead of MODEL_WEIGHTS"`
	ModelMemory  Size          `env:"MODEL_MEMORY" envDefault:"0" use:"0, or 1 MiB to 1 TiB" help:"memory for the loaded models of a repository, without mapped files, such as 8GiB; models that nobody uses make room for others; 0: no limit"`
	KeepAlive    time.Duration `env:"MODEL_KEEP_ALIVE" envDefault:"0" use:"0 for ever, or a time such as 30m" help:"time without use after which a model of a repository is unloaded, such as 30m; 0: never"`

	Weights        string       `env:"MODEL_WEIGHTS" help:"model to serve: a Hugging Face repository (owner/name), an http(s) URL, a folder, an Argos package (.argosmodel), or one of Firefox's models (firefox:en-de); empty: the bundled one"`
	Revision       string       `env:"MODEL_REVISION" help:"branch, tag or commit of the repository; empty: main"`
	SaveWeights    string       `env:"SAVE_WEIGHTS" help:"folder for the exported model; empty: one for each model in the user's cache folder"`
	Family         string       `env:"MODEL_FAMILY" envDefault:"auto" help:"family of the model, where its files do not tell: m2m100, small100, nllb, marian, firefox, mbart, t5 or ctranslate2"`
	ModelLanguages string       `env:"MODEL_LANGUAGES" help:"languages of the model, where its files do not tell: from, a colon, into, such as en:fr or fr,es,it:en"`
	KeepCheckpoint Switch       `env:"KEEP_CHECKPOINT" envDefault:"false" help:"keep the downloaded checkpoint after its export"`
	Verify         model.Verify `env:"MODEL_VERIFY" envDefault:"changed" use:"changed, always or never" help:"when to compare checksums at the start: changed (only of new or modified files), always or never"`
	// Precision is "" after Parse if PRECISION is auto.
	Precision model.Precision `env:"PRECISION" envDefault:"auto" use:"auto, int8, fp32 or fp16" help:"int8, fp32, fp16 or auto: fp16 on GPUs, and on CPUs fp32 for small models, int8 for all others"`

	// Device is CUDA after Parse if it was auto and CUDADevices is set.
	Device      Device `env:"DEVICE" envDefault:"auto" use:"auto, cpu or cuda" help:"where the model runs: cpu, cuda (NVIDIA GPUs), or auto: GPUs if there are any"`
	CUDADevices []int  `env:"CUDA_DEVICES" envDefault:"" help:"GPUs to use, separated by commas, such as 0,1; sets DEVICE to cuda, and all must work; empty: all that work"`
	Threads     int    `env:"THREADS" envDefault:"0" use:"0 to 4096" help:"threads of each worker on the CPU; 0: one for each core, divided between the workers"`
	Library     string `env:"ONNXRUNTIME_LIB" help:"path of ONNX Runtime's library; empty: the folder of the binary, build/onnxruntime and the system's folders"`

	Token      string `env:"HF_TOKEN" help:"access token for gated or private repositories"`
	Endpoint   string `env:"HF_ENDPOINT" help:"mirror to use instead of the Hugging Face hub"`
	ModelIndex string `env:"FIREFOX_MODELS" help:"URL of the index of Firefox's models, for firefox:en-de; empty: Mozilla's"`
	Offline    Switch `env:"HF_HUB_OFFLINE" envDefault:"false" help:"never use the network for weights"`

	Shortlist Switch `env:"SHORTLIST" envDefault:"true" help:"use the lexical shortlists of models that have one, such as Firefox's"`
	Scripts   Switch `env:"TARGET_SCRIPTS" envDefault:"false" help:"let translations have only letters of the scripts that their language is written in, and of their source: faster the more languages a model has; int8 on CPUs only"`
	Beams     int    `env:"NUM_BEAMS" envDefault:"0" use:"0 to 1024" help:"beams of the search; 1 is greedy and fastest; 0: the checkpoint's own number"`
	MaxLength int    `env:"MAX_LENGTH" envDefault:"0" use:"0 to 1048576" help:"longest translation of a sentence in tokens; 0: the checkpoint's own limit, or 200 where it has none"`

	MaxBeams       int `env:"MAX_BEAMS" envDefault:"8" use:"1 to 1024" help:"most beams that a request may ask for; at least NUM_BEAMS"`
	MaxLengthLimit int `env:"MAX_LENGTH_LIMIT" envDefault:"0" use:"0 to 1048576" help:"most tokens that a request may ask for, and of a second try of a sentence; 0: the model's positions"`

	MaxRecords      int           `env:"MAX_RECORDS" envDefault:"1024" use:"1 to 1048576" help:"most translations in one request: records × target languages"`
	MaxChars        int           `env:"MAX_CHARS" envDefault:"100000" use:"1 to 1073741824" help:"most characters in one record"`
	MaxBodyBytes    int64         `env:"MAX_BODY_BYTES" envDefault:"4194304" use:"64 to 4294967296" help:"most bytes in a request's body"`
	MaxSentences    int           `env:"MAX_SENTENCES" envDefault:"50000" use:"1 to 1073741824" help:"most sentences in one request, once for each target language"`
	MaxTokens       int           `env:"MAX_TOKENS" envDefault:"1000000" use:"1 to 1073741824" help:"most source tokens in one request, once for each target language"`
	RequestMemory   Size          `env:"REQUEST_MEMORY" envDefault:"512MiB" help:"memory for all requests in flight; a caller gets at most three quarters of what others leave, and 503 if there is none left"`
	RequestTimeout  time.Duration `env:"REQUEST_TIMEOUT" envDefault:"5m" use:"a time above 0, such as 30s" help:"longest time for a request, then 504"`
	ShutdownTimeout time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"30s" use:"a time above 0, such as 30s" help:"time that requests in flight get to finish after SIGTERM"`

	KeysFile       string      `env:"API_KEYS_FILE" envDefault:"" help:"file of API keys, made with 'dragoman key'; empty: everybody may use the service"`
	RateLimit      access.Rate `env:"RATE_LIMIT" envDefault:"unlimited" help:"requests of each key, or client address if there are no keys, such as 10/s or 600/m; also from an address without a valid key"`
	RateBurst      int         `env:"RATE_BURST" envDefault:"0" help:"requests of each key or address at once; 0: those of one second"`
	CharLimit      access.Rate `env:"CHAR_LIMIT" envDefault:"unlimited" help:"characters of each key or address, such as 100000/m; as many may come at once"`
	TokenLimit     access.Rate `env:"TOKEN_LIMIT" envDefault:"unlimited" help:"tokens that are decoded for each key or address, such as 5000000/h; as many may come at once"`
	TrustedProxies []string    `env:"TRUSTED_PROXIES" envDefault:"" help:"addresses and networks of proxies, separated by commas, such as 10.0.0.0/8, whose X-Forwarded-For is trusted"`
	CORSOrigins    []string    `env:"CORS_ORIGINS" envDefault:"" help:"origins, separated by commas, whose pages may call the service, such as https://app.example.com; *: all"`
	CORSDropIns    Switch      `env:"CORS_DROP_INS" envDefault:"true" help:"let all pages call the APIs of other programs whose originals do so, such as LibreTranslate's; false: only those of CORS_ORIGINS"`
	AllowedHosts   []string    `env:"ALLOWED_HOSTS" envDefault:"" help:"names of the service, separated by commas, such as translate.example.com or *.example.com: requests for others are refused, but for IP addresses and names outside of the public DNS; empty: refused to pages that come by plain HTTP; *: to nobody"`

	JobFile           string        `env:"JOB_FILE" envDefault:"" help:"file that keeps jobs, with their texts, for one process at a time; empty: jobs.db in a folder of XDG_DATA_HOME, or else of the user's cache folder; gateways use Redis instead; off: no jobs"`
	JobTTL            time.Duration `env:"JOB_TTL" envDefault:"24h" use:"a time above 0, such as 24h" help:"how long a job is kept after its end, and how long one is tried that cannot go on"`
	JobConcurrency    int           `env:"JOB_CONCURRENCY" envDefault:"2" use:"1 to 1024" help:"jobs that run at a time; further ones wait, and take turns of a minute"`
	JobMaxRecords     int           `env:"JOB_MAX_RECORDS" envDefault:"100000" use:"1 to 16777216" help:"most translations in one job: records × target languages"`
	JobMaxChars       int           `env:"JOB_MAX_CHARS" envDefault:"1000000" use:"1 to 1073741824" help:"most characters in one record of a job"`
	JobMaxBytes       Size          `env:"JOB_MAX_BYTES" envDefault:"0" help:"most bytes in the body of a job; 0: an eighth of REQUEST_MEMORY"`
	DocumentMaxBytes  Size          `env:"DOCUMENT_MAX_BYTES" envDefault:"0" help:"most bytes in a document; 0: a sixteenth of REQUEST_MEMORY"`
	DocumentMaxTexts  int           `env:"DOCUMENT_MAX_TEXTS" envDefault:"500000" use:"1 to 16777216" help:"most texts in a document, such as paragraphs and cells, repeated ones included"`
	JobStorage        Size          `env:"JOB_STORAGE" envDefault:"2GiB" use:"1 MiB to 1 TiB" help:"what all jobs may take together, ended ones included; 503 for what does not fit"`
	JobsPerKey        int           `env:"JOBS_PER_KEY" envDefault:"100" use:"1 to 1048576" help:"jobs of a key, or client address if there are no keys, ended ones included until they expire or are deleted"`
	JobReplicas       int           `env:"JOB_REPLICAS" envDefault:"0" use:"0 to 16" help:"replicas of Redis that must have a job before it is accepted; 503 where too few have it in JOB_REPLICA_WAIT"`
	JobReplicaWait    time.Duration `env:"JOB_REPLICA_WAIT" envDefault:"2s" use:"1ms to 30s" help:"time that JOB_REPLICAS have for a job"`
	JobWebhookSecret  string        `env:"JOB_WEBHOOK_SECRET" envDefault:"" help:"key that signs calls of webhooks (Standard Webhooks): whsec_ and 24 to 64 bytes in base64; empty: no webhooks"`
	JobWebhookPrivate Switch        `env:"JOB_WEBHOOK_PRIVATE" envDefault:"false" help:"call webhooks in private networks, on this machine and without TLS, too"`

	GlossaryFile     string        `env:"GLOSSARY_FILE" envDefault:"" help:"file that keeps glossaries, for one process at a time; empty: glossaries.db in the default folder of jobs.db; gateways use Redis instead; off: no glossaries"`
	GlossaryMaxTerms int           `env:"GLOSSARY_MAX_TERMS" envDefault:"10000" use:"1 to 1048576" help:"most terms of a glossary for two languages"`
	GlossaryMaxBytes Size          `env:"GLOSSARY_MAX_BYTES" envDefault:"1MiB" use:"1KiB to 64MiB" help:"most bytes of all terms of a glossary"`
	GlossariesPerKey int           `env:"GLOSSARIES_PER_KEY" envDefault:"100" use:"1 to 65536" help:"glossaries of a key, or of everybody together if there are no keys"`
	LiveSessions     int           `env:"LIVE_SESSIONS" envDefault:"1000" use:"0 to 1048576" help:"most sessions of live text at a time, of which a key or address has at most half of what others leave; 0: no live text"`
	LiveMaxChars     int           `env:"LIVE_MAX_CHARS" envDefault:"20000" use:"1 to 1048576" help:"most characters in the text of a live session"`
	LiveIdle         time.Duration `env:"LIVE_IDLE" envDefault:"5m" use:"a time above 0, such as 30s" help:"time after which a live session ends that nobody edits or comes back to"`

	// AsksJobs and AsksGlossaries are set if any variable about jobs or glossaries is set.
	AsksJobs, AsksGlossaries bool

	PprofAddr string     `env:"PPROF_ADDR" envDefault:"" help:"address that serves profiles, such as localhost:6060; empty: none"`
	LogLevel  slog.Level `env:"LOG_LEVEL" envDefault:"info" help:"debug, info, warn or error"`
	LogFormat string     `env:"LOG_FORMAT" envDefault:"text" use:"text or json" help:"text or json"`
}

// Parse parses the configuration from the variables of environ ("NAME=value"). A variable that is set but empty counts as unset,
// and so does a service link of Kubernetes. The error is one line that names every invalid variable.
func Parse(environ []string) (Config, error) {
	vars := env.ToMap(environ)
	for name, value := range vars {
		if strings.TrimSpace(value) == "" || serviceLink(name, value) {
			delete(vars, name)
		}
	}
	cfg, err := env.ParseAsWithOptions[Config](env.Options{Environment: vars})
	if err != nil {
		return Config{}, explain(err, vars)
	}
	errs := cfg.checkEach()
	if cfg.Family == "auto" {
		cfg.Family = ""
	}
	if cfg.Precision == "auto" {
		cfg.Precision = ""
	}
	if cfg.Device == Auto && len(cfg.CUDADevices) > 0 {
		cfg.Device = CUDA
	}
	for name := range vars {
		cfg.AsksJobs = cfg.AsksJobs || known(name) && strings.HasPrefix(name, "JOB")
		cfg.AsksGlossaries = cfg.AsksGlossaries || known(name) && strings.HasPrefix(name, "GLOSSAR")
	}
	errs = append(errs, cfg.checkTogether()...)
	if cfg.JobMaxBytes == 0 {
		cfg.JobMaxBytes = cfg.RequestMemory / 8
	}
	if cfg.DocumentMaxBytes == 0 {
		cfg.DocumentMaxBytes = cfg.RequestMemory / 16
	}
	return cfg, oneLine(errs)
}

// AccessLimits returns the limits of each caller.
func (c Config) AccessLimits() access.Limits {
	return access.Limits{Requests: c.RateLimit, Burst: c.RateBurst, Characters: c.CharLimit, Tokens: c.TokenLimit}
}

// Variable is one environment variable of the service.
type Variable struct {
	Name, Default, Help string
}

// Variables returns the environment variables that Parse reads, in order.
func Variables() []Variable {
	var list []Variable
	for field := range reflect.TypeFor[Config]().Fields() {
		if name := field.Tag.Get("env"); name != "" {
			list = append(list, Variable{Name: name, Default: field.Tag.Get("envDefault"), Help: field.Tag.Get("help")})
		}
	}
	return list
}

func known(name string) bool {
	return slices.ContainsFunc(Variables(), func(v Variable) bool { return v.Name == name })
}

// Misspelt returns the variables of an environment that Parse does not read, with the probable intended names.
func Misspelt(environ []string) map[string]string {
	var names []string
	for _, v := range Variables() {
		names = append(names, v.Name)
	}
	found := map[string]string{}
	for name, value := range env.ToMap(environ) {
		if strings.TrimSpace(value) == "" || slices.Contains(names, name) || serviceLink(name, value) {
			continue
		}
		near := slices.DeleteFunc(spelling.Near(name, names), func(own string) bool { return ofAnother(name, own) })
		if len(near) > 0 {
			found[name] = strings.Join(near, " or ")
		}
	}
	return found
}

// ServiceLinks returns the names of variables that Parse ignores because Kubernetes set them to the address of a service.
func ServiceLinks(environ []string) (names []string) {
	for name, value := range env.ToMap(environ) {
		if known(name) && serviceLink(name, value) {
			names = append(names, name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// serviceLink reports whether Kubernetes has set a variable, as it does for each service of a namespace:
// API_PORT=tcp://10.0.0.1:80 for a service named api. Its other variables hardly match any setting of this service.
func serviceLink(name, value string) bool {
	protocol, _, ok := strings.Cut(strings.TrimSpace(value), "://")
	return ok && strings.HasSuffix(name, "_PORT") && slices.Contains([]string{"tcp", "udp", "sctp"}, protocol)
}

// ofAnother reports whether a name differs from one of this service only in its first word, and there in more than a letter: then
// it belongs to another program, as SSL_CERT_FILE belongs to Go.
func ofAnother(name, own string) bool {
	word, rest, _ := strings.Cut(name, "_")
	ownWord, ownRest, _ := strings.Cut(own, "_")
	return rest != "" && rest == ownRest && len(spelling.Near(word, []string{ownWord})) == 0
}

// explain converts the library's errors, which name struct fields, to one line that names the variables.
func explain(err error, vars map[string]string) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	var errs []error
	for _, err := range all.Errors {
		var parse env.ParseError
		if !errors.As(err, &parse) {
			errs = append(errs, err)
			continue
		}
		field, _ := reflect.TypeFor[Config]().FieldByName(parse.Name)
		name := field.Tag.Get("env")
		errs = append(errs, fmt.Errorf("%s=%q: %s", name, vars[name], wanted(field.Type)))
	}
	return oneLine(errs)
}

// wanted describes the valid values of a type of variable.
func wanted(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "use a time with its unit, such as 30s or 5m"
	case reflect.TypeFor[slog.Level]():
		return "use debug, info, warn or error"
	case reflect.TypeFor[Switch]():
		return "use true or false"
	case reflect.TypeFor[access.Rate]():
		return "use a number and a unit of time, such as 10/s or 600/m, or unlimited"
	case reflect.TypeFor[Size]():
		return "use a number of bytes, such as 1000000 or 64MiB"
	case reflect.TypeFor[[]int]():
		return "use whole numbers with commas between, such as 0,1"
	}
	return "use a whole number"
}

// oneLine joins errors with semicolons; nil if there are none.
func oneLine(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	text := make([]string, len(errs))
	for i, err := range errs {
		text[i] = err.Error()
	}
	return errors.New("configuration: " + strings.Join(text, "; "))
}
