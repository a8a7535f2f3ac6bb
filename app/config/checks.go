package config

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"dragoman/app/guard/access"
	"dragoman/app/guard/admission/cost"
	"dragoman/model"
)

// rule describes the valid values of a variable, in the words of the error for others: a list of them (text or json), a range (1
// to 64, 1ms to 30s, 1 MiB to 1 TiB), optionally with 0 (0, or 1 MiB to 1 TiB), or a time that is not below 0 (0 for no bound, or
// ...; a time above 0, ...). A size below its range has lost its unit.
type rule string

// allows reports whether a value is valid.
func (r rule) allows(v reflect.Value) bool {
	text, beside0 := strings.CutPrefix(string(r), "0, or ")
	low, high, isRange := strings.Cut(text, " to ")
	switch {
	case v.Kind() == reflect.String:
		return slices.Contains(strings.Split(strings.ReplaceAll(text, " or ", ", "), ", "), v.String())
	case isRange && (!beside0 || v.Int() != 0):
		return v.Int() >= bound(low, v.Type()) && v.Int() <= bound(high, v.Type())
	case strings.HasPrefix(text, "a time above 0"):
		return v.Int() > 0
	}
	return v.Int() >= 0
}

// bound parses an end of a range.
func bound(text string, of reflect.Type) int64 {
	var n int64
	var err error
	switch of {
	case reflect.TypeFor[time.Duration]():
		var d time.Duration
		d, err = time.ParseDuration(text)
		n = int64(d)
	case reflect.TypeFor[Size]():
		var size Size
		err = size.UnmarshalText([]byte(text))
		n = int64(size)
	default:
		n, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		panic(err) // a mistake in a tag
	}
	return n
}

// checkEach returns an error for each invalid value.
func (c Config) checkEach() (errs []error) {
	of := reflect.ValueOf(c)
	for field := range of.Type().Fields() {
		r, value := field.Tag.Get("use"), of.FieldByIndex(field.Index)
		if r == "" || rule(r).allows(value) {
			continue
		}
		form := "%s=%v: use %s"
		switch {
		case field.Type.Kind() == reflect.String:
			form = "%s=%q: use %s"
		case field.Type == reflect.TypeFor[Size]():
			form = "%s=%d bytes: use %s"
		}
		errs = append(errs, fmt.Errorf(form, field.Tag.Get("env"), value, r))
	}
	return errs
}

// These values of JOB_FILE, GLOSSARY_FILE and MEMORY_FILE disable jobs, glossaries and translation memories.
const JobsOff, GlossariesOff, MemoriesOff = "off", "off", "off"

const (
	// maxMemory is the maximum of REQUEST_MEMORY.
	maxMemory Size = 1 << 40
	// documentByte is the memory for each byte of a document of plain text: its body, copies of it and its texts.
	documentByte = cost.BodyByte + cost.DocumentByte + cost.RecordByte
	// unsigned is an element of FLEET_SECRET while a fleet starts or ends signing.
	unsigned = "none"
)

var prefixPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$`)

// checkTogether returns errors for values that contradict each other, and for values that need more than a rule. Its messages do
// not contain secrets, or URLs that may contain one.
func (c Config) checkTogether() (errs []error) {
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	for _, from := range c.AutoPull {
		refuse(from != "firefox" && from != "opus", "AUTO_PULL=%q: use firefox, opus or both with a comma between", from)
	}
	refuse((c.TLSCert == "") != (c.TLSKey == ""), "TLS_CERT_FILE and TLS_KEY_FILE belong together: set both, or none")
	refuse(c.TLSClientCA != "" && c.TLSCert == "", "TLS_CLIENT_CA_FILE needs TLS: set TLS_CERT_FILE and TLS_KEY_FILE")
	// Memory for the texts of the largest body, translated into one language; callers get three quarters of the limit.
	least := Size(cost.Texts(c.MaxBodyBytes, 1)+cost.BodyByte*c.MaxBodyBytes) * 4 / 3
	refuse(c.RequestMemory < least || c.RequestMemory > maxMemory,
		"REQUEST_MEMORY=%d bytes: use %s or more, or lower MAX_BODY_BYTES", c.RequestMemory, humanize.IBytesN(uint64(least), 2))
	for _, of := range []struct {
		name      string
		value     Size
		byteTakes Size // memory for each byte of a body, or a document
	}{{"JOB_MAX_BYTES", c.JobMaxBytes, cost.BodyByte + cost.JobByte}, {"DOCUMENT_MAX_BYTES", c.DocumentMaxBytes, documentByte}} {
		most := c.RequestMemory * 3 / 4 / of.byteTakes
		refuse(of.value != 0 && (of.value < 64 || of.value > most),
			"%s=%d bytes: use 64 bytes to %s, or raise REQUEST_MEMORY", of.name, of.value, humanize.IBytesN(uint64(max(0, most)), 2))
	}
	const short = "%s=%d: use 0, or 3 and more: two tokens stand before the translation"
	refuse(c.MaxLength == 1 || c.MaxLength == 2, short, "MAX_LENGTH", c.MaxLength)
	refuse(c.MaxLengthLimit == 1 || c.MaxLengthLimit == 2, short, "MAX_LENGTH_LIMIT", c.MaxLengthLimit)

	refuse((c.Role == Gateway || c.Role == Worker) && c.BrokerURL == "",
		"ROLE=%s needs BROKER_URL: set it to a Redis, such as redis://localhost:6379", c.Role)
	u, err := url.Parse(c.BrokerURL) // the Redis library checks the rest
	refuse(c.BrokerURL != "" && (err != nil || !slices.Contains([]string{"redis", "rediss", "unix"}, u.Scheme)),
		"BROKER_URL: use a URL such as redis://localhost:6379, rediss:// for TLS, or unix:///path")
	refuse(!prefixPattern.MatchString(c.BrokerPrefix),
		"BROKER_PREFIX=%.80q: use 1 to 64 letters, digits and . _ : -, the first of them a letter or digit", c.BrokerPrefix)
	refuse(repeats(c.FleetSecret) || slices.ContainsFunc(c.FleetSecret, func(secret string) bool {
		return secret != unsigned && (len(secret) < 32 || len(secret) > 256 || strings.TrimSpace(secret) != secret)
	}), "FLEET_SECRET: use 32 to 256 characters, such as what `openssl rand -hex 32` prints, or several different ones with commas between")
	refuse(!validWebhookSecret(c.JobWebhookSecret),
		"JOB_WEBHOOK_SECRET: use whsec_ and 24 to 64 random bytes in base64, such as what `echo whsec_$(openssl rand -base64 32)` prints")

	refuse(slices.ContainsFunc(c.Repositories, func(dir string) bool { return strings.TrimSpace(dir) == "" }),
		"MODEL_REPOSITORY=%q: use folders with commas between, such as /models,/more", strings.Join(c.Repositories, ","))
	refuse(c.Revision != "" && c.Weights == "", "MODEL_REVISION=%q: the bundled model has no revisions, set MODEL_WEIGHTS too", c.Revision)
	refuse(c.Device == CUDA && c.Precision == model.INT8, "PRECISION=int8 with DEVICE=cuda: 8 bits are for CPUs, use auto, fp16 or fp32")
	gpus := strings.ReplaceAll(strings.Trim(fmt.Sprint(c.CUDADevices), "[]"), " ", ",")
	refuse(gpus != "" && c.Device == CPU, "CUDA_DEVICES=%s: no GPU is used with DEVICE=cpu", gpus)
	refuse(repeats(c.CUDADevices) || slices.ContainsFunc(c.CUDADevices, func(n int) bool { return n < 0 }),
		"CUDA_DEVICES=%s: use numbers from 0 on, each once", gpus)

	_, proxies := access.TrustedProxies(c.TrustedProxies)
	_, origins := access.NewCORS(c.CORSOrigins)
	_, hosts := access.NewSites(c.AllowedHosts, "")
	for _, of := range []struct {
		names string
		err   error
	}{
		{"RATE_LIMIT, RATE_BURST, CHAR_LIMIT, TOKEN_LIMIT", c.AccessLimits().Validate()},
		{"TRUSTED_PROXIES", proxies}, {"CORS_ORIGINS", origins}, {"ALLOWED_HOSTS", hosts},
	} {
		refuse(of.err != nil, "%s: %w", of.names, of.err)
	}
	return errs
}

// CheckServe returns an error for settings that a service cannot combine. A pull can: it adds a model to a repository.
func (c Config) CheckServe() error {
	if len(c.AutoPull) > 0 && (c.Weights != "" || c.Role == Gateway || c.Role == Worker) {
		return oneLine([]error{errors.New("AUTO_PULL fetches models for one process with a repository: unset MODEL_WEIGHTS and ROLE, or AUTO_PULL")})
	}
	if len(c.Repositories) > 0 && c.Weights != "" {
		return oneLine([]error{errors.New("MODEL_REPOSITORY and MODEL_WEIGHTS are both set: unset one, " +
			"and use `dragoman pull MODEL --repository DIR --name NAME` to add a model to a repository")})
	}
	return nil
}

// repeats reports whether a list has duplicates.
func repeats[T cmp.Ordered](list []T) bool {
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) < len(list)
}

// validWebhookSecret reports whether Standard Webhooks allows a secret; without a secret, no webhooks are called.
func validWebhookSecret(secret string) bool {
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	return secret == "" || ok && err == nil && len(key) >= 24 && len(key) <= 64
}
