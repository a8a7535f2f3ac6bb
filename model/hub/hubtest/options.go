package hubtest

type options struct {
	prefix  string
	token   string
	gated   bool
	withAPI bool
}

// Option changes what kind of Hub a Server is.
type Option func(*options)

// WithPrefix puts the Hub under a path, as some mirrors do.
func WithPrefix(prefix string) Option { return func(o *options) { o.prefix = prefix } }

// WithToken makes the repository private: without this token it is not found.
func WithToken(token string) Option { return func(o *options) { o.token = token } }

// Gated makes the repository's files readable only after its licence has been
// accepted, which nobody has.
func Gated() Option { return func(o *options) { o.gated = true } }

// WithoutAPI leaves out the list of files, as a plain mirror does.
func WithoutAPI() Option { return func(o *options) { o.withAPI = false } }
