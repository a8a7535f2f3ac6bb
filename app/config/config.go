// Package config parses the configuration of the service: one [Config], read from the environment once and validated, so that the
// rest of the program never reads the environment.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
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
// docs/configuration.md and of `dragoman help config`, the use tags are the valid values, see [rule].
type Config struct {
	Host        string `env:"APP_HOST" envDefault:"0.0.0.0" help:"address to listen on"`
	Port        int    `env:"APP_PORT" envDefault:"9527" use:"0 to 65535" help:"port to listen on; 0 takes a free one and logs it"`
	GRPCPort    int    `env:"GRPC_PORT" envDefault:"8001" use:"0 to 65535" help:"port for [gRPC](api.md#grpc); 0: no gRPC. If the default port is in use, gRPC is off and the log says so"`
	TLSCert     string `env:"TLS_CERT_FILE" help:"certificate chain for HTTPS and gRPC, in PEM; read again when the file changes"`
	TLSKey      string `env:"TLS_KEY_FILE" help:"private key of the certificate, in PEM"`
	TLSClientCA string `env:"TLS_CLIENT_CA_FILE" help:"authorities whose certificates clients must have; empty: clients need no certificate"`
	Workers     int    `env:"APP_WORKERS" envDefault:"0" use:"0 to 64" help:"copies of the model that decode in parallel, at most 64; 0: one, or for a small model one per core, up to 8. On GPUs: copies per GPU; 0: one"`
	Concurrency int    `env:"APP_CONCURRENCY" envDefault:"1024" use:"1 to 1048576" help:"maximum concurrent requests; further ones get 503. A caller may use three quarters of the places that other callers leave"`

	// Role is All after Parse if ROLE is not set.
	Role         Role   `env:"ROLE" envDefault:"all" use:"all, gateway or worker" help:"all, gateway (accepts requests, loads no models) or worker (loads models, decodes for gateways)"`
	BrokerURL    string `env:"BROKER_URL" help:"Redis or Valkey between gateways and workers: redis://, rediss:// (TLS) or unix://; ?master_name=NAME&addr=HOST:PORT for Sentinel, ?addr=HOST:PORT for Cluster"`
	BrokerPrefix string `env:"BROKER_PREFIX" envDefault:"dragoman" help:"prefix of the keys in Redis, so that several fleets can share one"`
	// FleetSecret has only valid secrets after Parse.
	FleetSecret []string `env:"FLEET_SECRET" envDefault:"" help:"secret of 32 to 256 characters that signs the messages between gateways and workers, such as the output of 'openssl rand -hex 32'. To change it, set several, separated by commas: the first signs, all are accepted, none stands for no signature; empty: no signatures"`

	BatchSize     int           `env:"BATCH_SIZE" envDefault:"80" use:"1 to 65536" help:"maximum rows that a worker decodes at once for one caller; a third more for several callers. A sentence takes NUM_BEAMS rows; one sentence always fits"`
	KVMemory      Size          `env:"KV_MEMORY" envDefault:"0" use:"0, or 1 MiB to 1 TiB" help:"memory for a worker's KV cache, such as 2GiB; 0: enough for BATCH_SIZE rows of the maximum length, which a GPU reserves at the start"`
	PrefillTokens int           `env:"PREFILL_TOKENS" envDefault:"512" use:"1 to 1048576" help:"maximum source tokens that join a decoder step while others decode; fewer keep steps short, more fill a batch sooner"`
	QueueTokens   int           `env:"QUEUE_TOKENS" envDefault:"65536" use:"1 to 1073741824" help:"maximum source tokens that wait to be decoded; requests submit their texts in parts"`
	QueueWait     time.Duration `env:"QUEUE_WAIT" envDefault:"30s" use:"0 for no bound, or a time such as 2s" help:"maximum time that a request waits for others; a request that would wait longer gets 503 at once; 0: no limit"`
	CacheBytes    Size          `env:"CACHE_BYTES" envDefault:"64MiB" use:"0, or 64 KiB to 1 TiB" help:"memory for the cache of translations, such as 64MiB; 0: no cache"`

	Repositories []string      `env:"MODEL_REPOSITORY" envDefault:"" help:"model repositories, separated by commas: folders with NAME/VERSION/, each an exported model; replaces MODEL_WEIGHTS"`
	ModelMemory  Size          `env:"MODEL_MEMORY" envDefault:"0" use:"0, or 1 MiB to 1 TiB" help:"memory for the loaded models of a repository, without mapped files, such as 8GiB; idle models are unloaded for others; 0: no limit"`
	KeepAlive    time.Duration `env:"MODEL_KEEP_ALIVE" envDefault:"0" use:"0 for ever, or a time such as 30m" help:"idle time after which a model of a repository is unloaded, such as 30m; 0: never"`

	AutoPull          []string `env:"AUTO_PULL" envDefault:"" help:"sources of models, separated by commas, from which a pair of languages is fetched when it is first asked for, into MODEL_REPOSITORY, or else a folder in the user's cache folder: firefox, opus"`
	AutoPullLanguages []string `env:"AUTO_PULL_LANGUAGES" envDefault:"" help:"languages between which AUTO_PULL fetches models, separated by commas, such as en,de,fr; empty: all"`
	AutoPullStorage   Size     `env:"AUTO_PULL_STORAGE" envDefault:"20GiB" use:"1 MiB to 1 TiB" help:"maximum size of the repository's models after a fetch by AUTO_PULL"`

	Weights        string       `env:"MODEL_WEIGHTS" help:"model to serve: a Hugging Face repository (owner/name), an http(s) URL, a folder, an Argos package (.argosmodel), or one of Firefox's models (firefox:en-de); empty: the bundled model"`
	Revision       string       `env:"MODEL_REVISION" help:"branch, tag or commit of the repository; empty: main"`
	SaveWeights    string       `env:"SAVE_WEIGHTS" help:"folder for the exported model; empty: a folder per model in the user's cache folder"`
	Family         string       `env:"MODEL_FAMILY" envDefault:"auto" help:"family of the model, if its files do not name it: m2m100, small100, nllb, marian, firefox, mbart, t5 or ctranslate2"`
	ModelLanguages string       `env:"MODEL_LANGUAGES" help:"languages of the model, if its files do not name them: sources, a colon, targets, such as en:fr or fr,es,it:en"`
	KeepCheckpoint Switch       `env:"KEEP_CHECKPOINT" envDefault:"false" help:"keep the downloaded checkpoint after its export"`
	Verify         model.Verify `env:"MODEL_VERIFY" envDefault:"changed" use:"changed, always or never" help:"when to compare checksums at the start: changed (only for new or modified files), always or never"`
	// Precision is "" after Parse if PRECISION is auto.
	Precision model.Precision `env:"PRECISION" envDefault:"auto" use:"auto, int8, fp32 or fp16" help:"int8, fp32, fp16 or auto: fp16 on GPUs; on CPUs fp32 for small models, int8 for others"`

	// Device is CUDA after Parse if it was auto and CUDADevices is set.
	Device      Device `env:"DEVICE" envDefault:"auto" use:"auto, cpu or cuda" help:"where the model runs: cpu, cuda (NVIDIA GPUs) or auto (GPUs if there are any)"`
	CUDADevices []int  `env:"CUDA_DEVICES" envDefault:"" help:"GPUs to use, separated by commas, such as 0,1; sets DEVICE to cuda, and all must work; empty: all working GPUs"`
	Threads     int    `env:"THREADS" envDefault:"0" use:"0 to 4096" help:"CPU threads of each worker; 0: one per core, divided between the workers"`
	Library     string `env:"ONNXRUNTIME_LIB" help:"path of ONNX Runtime's library; empty: found in the binary's folder, build/onnxruntime or the system's folders"`

	Token      string `env:"HF_TOKEN" help:"access token for gated or private repositories"`
	Endpoint   string `env:"HF_ENDPOINT" help:"mirror to use instead of the Hugging Face hub"`
	ModelIndex string `env:"FIREFOX_MODELS" help:"URL of the index of Firefox's models, for firefox:en-de; empty: Mozilla's"`
	Offline    Switch `env:"HF_HUB_OFFLINE" envDefault:"false" help:"never use the network for weights"`

	Shortlist Switch `env:"SHORTLIST" envDefault:"true" help:"use the lexical shortlists of models that have them, such as Firefox's"`
	Scripts   Choice `env:"TARGET_SCRIPTS" envDefault:"auto" help:"limit the letters of translations to the scripts of the target language and to what the source has: faster the more languages a model has; int8 on CPUs only. false: no limit; auto and true: for models of several languages that this version exported; older exports are warned of, by true all others too" use:"auto, true or false"`
	Beams     int    `env:"NUM_BEAMS" envDefault:"0" use:"0 to 1024" help:"beams of the search; 1 is greedy and fastest; 0: the checkpoint's number"`
	MaxLength int    `env:"MAX_LENGTH" envDefault:"0" use:"0 to 1048576" help:"maximum tokens in the translation of a sentence; 0: the checkpoint's limit, or 200 if it has none. Its first try has at most 16 for each token of its source and 32"`

	MaxBeams       int `env:"MAX_BEAMS" envDefault:"8" use:"1 to 1024" help:"maximum beams that a request may ask for; at least NUM_BEAMS"`
	MaxLengthLimit int `env:"MAX_LENGTH_LIMIT" envDefault:"0" use:"0 to 1048576" help:"maximum tokens that a request may ask for, and of a sentence's retry; 0: the model's positions"`

	MaxRecords      int           `env:"MAX_RECORDS" envDefault:"1024" use:"1 to 1048576" help:"maximum translations in a request: records × target languages"`
	MaxChars        int           `env:"MAX_CHARS" envDefault:"100000" use:"1 to 1073741824" help:"maximum characters in a record"`
	MaxBodyBytes    int64         `env:"MAX_BODY_BYTES" envDefault:"4194304" use:"64 to 4294967296" help:"maximum bytes in a request's body"`
	MaxSentences    int           `env:"MAX_SENTENCES" envDefault:"50000" use:"1 to 1073741824" help:"maximum sentences in a request, counted once per target language"`
	MaxTokens       int           `env:"MAX_TOKENS" envDefault:"1000000" use:"1 to 1073741824" help:"maximum source tokens in a request, counted once per target language"`
	RequestMemory   Size          `env:"REQUEST_MEMORY" envDefault:"512MiB" help:"memory for all requests in flight; without free memory a request gets 503. A caller may use three quarters of the memory that other callers leave"`
	RequestTimeout  time.Duration `env:"REQUEST_TIMEOUT" envDefault:"5m" use:"a time above 0, such as 30s" help:"maximum time of a request, which then gets 504"`
	ShutdownTimeout time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"30s" use:"a time above 0, such as 30s" help:"time for requests in flight to finish after SIGTERM"`

	KeysFile       string      `env:"API_KEYS_FILE" envDefault:"" help:"file of API keys, made with 'dragoman key'; empty: no key is needed"`
	RateLimit      access.Rate `env:"RATE_LIMIT" envDefault:"unlimited" help:"requests of each key, or of each client address if there are no keys, such as 10/s or 600/m; also limits requests without a valid key"`
	RateBurst      int         `env:"RATE_BURST" envDefault:"0" help:"requests that a key or address may send at once; 0: the requests of one second"`
	CharLimit      access.Rate `env:"CHAR_LIMIT" envDefault:"unlimited" help:"characters of each key or address, such as 100000/m, which may all come at once"`
	TokenLimit     access.Rate `env:"TOKEN_LIMIT" envDefault:"unlimited" help:"tokens decoded for each key or address, such as 5000000/h, which may all come at once"`
	TrustedProxies []string    `env:"TRUSTED_PROXIES" envDefault:"" help:"addresses and networks of proxies whose X-Forwarded-For is trusted, separated by commas, such as 10.0.0.0/8"`
	CORSOrigins    []string    `env:"CORS_ORIGINS" envDefault:"" help:"origins whose pages may call the service, separated by commas, such as https://app.example.com; *: all"`
	CORSDropIns    Switch      `env:"CORS_DROP_INS" envDefault:"true" help:"let all pages call the drop-in APIs whose originals allow it, such as LibreTranslate's; false: only pages of CORS_ORIGINS"`
	AllowedHosts   []string    `env:"ALLOWED_HOSTS" envDefault:"" help:"host names of the service, separated by commas, such as translate.example.com or *.example.com. Requests under other names of the public DNS are refused; empty: only those of pages that came by plain HTTP; *: all names are accepted"`

	JobFile           string        `env:"JOB_FILE" envDefault:"" help:"file of the jobs and their texts, for one process at a time; empty: jobs.db in a folder of XDG_DATA_HOME, or else of the user's cache folder; gateways use Redis instead; off: no jobs, and no documents, which are jobs, too"`
	JobTTL            time.Duration `env:"JOB_TTL" envDefault:"24h" use:"a time above 0, such as 24h" help:"time that an ended job is kept, and that a job that cannot continue is retried"`
	JobConcurrency    int           `env:"JOB_CONCURRENCY" envDefault:"2" use:"1 to 1024" help:"jobs that run at once; further ones wait, and take turns of a minute"`
	JobMaxRecords     int           `env:"JOB_MAX_RECORDS" envDefault:"100000" use:"1 to 16777216" help:"maximum translations in a job: records × target languages"`
	JobMaxChars       int           `env:"JOB_MAX_CHARS" envDefault:"1000000" use:"1 to 1073741824" help:"maximum characters in a record of a job"`
	JobMaxBytes       Size          `env:"JOB_MAX_BYTES" envDefault:"0" help:"maximum bytes in the body of a job; 0: an eighth of REQUEST_MEMORY"`
	DocumentMaxBytes  Size          `env:"DOCUMENT_MAX_BYTES" envDefault:"0" help:"maximum bytes in a document; 0: a sixteenth of REQUEST_MEMORY"`
	DocumentMaxTexts  int           `env:"DOCUMENT_MAX_TEXTS" envDefault:"500000" use:"1 to 16777216" help:"maximum texts in a document, such as paragraphs and cells, including repeated ones"`
	DocumentOld       string        `env:"DOCUMENT_LIBREOFFICE" envDefault:"" help:"LibreOffice's program, such as soffice, which converts .doc, .xls, .ppt and .rtf to .docx, .xlsx and .pptx; empty: these are refused"`
	JobStorage        Size          `env:"JOB_STORAGE" envDefault:"2GiB" use:"1 MiB to 1 TiB" help:"storage for all jobs together, including ended ones; a job that does not fit gets 503"`
	JobsPerKey        int           `env:"JOBS_PER_KEY" envDefault:"100" use:"1 to 1048576" help:"maximum jobs of a key, or of a client address if there are no keys; ended jobs count until they expire or are deleted"`
	JobWebhookSecret  string        `env:"JOB_WEBHOOK_SECRET" envDefault:"" help:"key that signs calls of webhooks (Standard Webhooks): whsec_ and 24 to 64 bytes in base64; empty: no webhooks"`
	JobWebhookPrivate Switch        `env:"JOB_WEBHOOK_PRIVATE" envDefault:"false" help:"also call webhooks in private networks, on this machine and without TLS"`

	GlossaryFile     string        `env:"GLOSSARY_FILE" envDefault:"" help:"file of the glossaries, for one process at a time; empty: glossaries.db in the default folder of jobs.db; gateways use Redis instead; off: no glossaries"`
	GlossaryMaxTerms int           `env:"GLOSSARY_MAX_TERMS" envDefault:"10000" use:"1 to 1048576" help:"maximum terms of a glossary for a pair of languages"`
	GlossaryMaxBytes Size          `env:"GLOSSARY_MAX_BYTES" envDefault:"1MiB" use:"1KiB to 64MiB" help:"maximum bytes of all terms of a glossary"`
	GlossariesPerKey int           `env:"GLOSSARIES_PER_KEY" envDefault:"100" use:"1 to 65536" help:"maximum glossaries of a key, or of all callers together if there are no keys"`
	MemoryFile       string        `env:"MEMORY_FILE" envDefault:"" help:"file of the translation memories, for one process at a time; empty: memories.db in the default folder of jobs.db; gateways use Redis instead; off: no translation memories"`
	MemoryMaxEntries int           `env:"MEMORY_MAX_ENTRIES" envDefault:"1000000" use:"1 to 10000000" help:"maximum entries of a translation memory"`
	MemoryMaxBytes   Size          `env:"MEMORY_MAX_BYTES" envDefault:"1GiB" use:"1KiB to 16GiB" help:"maximum bytes of a file of a translation memory"`
	MemoriesPerKey   int           `env:"MEMORIES_PER_KEY" envDefault:"100" use:"1 to 65536" help:"maximum translation memories of a key, or of all callers together if there are no keys"`
	LiveSessions     int           `env:"LIVE_SESSIONS" envDefault:"1000" use:"0 to 1048576" help:"maximum live sessions at a time; 0: no live text. A key or address may use half of the sessions that others leave"`
	LiveMaxChars     int           `env:"LIVE_MAX_CHARS" envDefault:"20000" use:"1 to 1048576" help:"maximum characters in the text of a live session"`
	LiveIdle         time.Duration `env:"LIVE_IDLE" envDefault:"5m" use:"a time above 0, such as 30s" help:"time without an edit or a reconnection after which a live session ends"`

	// AsksJobs, AsksGlossaries and AsksMemories are set if any variable about jobs, glossaries or translation memories is set.
	AsksJobs, AsksGlossaries, AsksMemories bool

	PprofAddr string     `env:"PPROF_ADDR" envDefault:"" help:"address that serves profiles, such as localhost:6060; empty: no profiles"`
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
		cfg.AsksMemories = cfg.AsksMemories || known(name) && strings.HasPrefix(name, "MEMOR")
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

// PulledModels returns the repository of AUTO_PULL without MODEL_REPOSITORY, in the user's cache folder.
func PulledModels(cache string) string { return filepath.Join(cache, "dragoman", "models") }

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
		if len(near) == 0 {
			near = shortened(name, names)
		}
		if len(near) > 0 {
			found[name] = strings.Join(near, " or ")
		}
	}
	return found
}

// shortened returns the first name that a name is without its first word, or with the program's: PORT and DRAGOMAN_PORT for
// APP_PORT. Without the program's word only PORT counts, which platforms set for the services that they run.
func shortened(name string, names []string) []string {
	short, own := strings.CutPrefix(name, "DRAGOMAN_")
	for _, candidate := range names {
		_, rest, _ := strings.Cut(candidate, "_")
		if (own || name == "PORT") && (short == candidate || short == rest) {
			return []string{candidate}
		}
	}
	return nil
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
	case reflect.TypeFor[Choice]():
		return "use auto, true or false"
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
