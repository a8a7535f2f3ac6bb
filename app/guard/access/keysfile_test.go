package access

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hexDigest is a digest as a file has it, which differs by its last digits.
func hexDigest(n int) string { return fmt.Sprintf("sha256:%064x", n) }

func TestParseAccounts(t *testing.T) {
	defaults := Limits{Requests: Rate{5, time.Second}, Burst: 50, Characters: Rate{1000, time.Minute}}
	content := strings.Join([]string{
		"\ufeff# keys of the service",
		"",
		"alice " + hexDigest(1) + "\r",
		"\tbob\t" + hexDigest(2) + "   sha256:" + strings.ToUpper(hexDigest(0xabc)[7:]),
		"  # carol " + hexDigest(4),
		"dave@example.com " + hexDigest(5) + " rate=10/s # until June",
		"e-2_f.g " + hexDigest(6) + " burst=3",
		"Heidi " + hexDigest(7) + " chars=5000/d rate=unlimited#now",
		"9 " + hexDigest(8) + " chars=unlimited",
		"admin " + hexDigest(9) + " " + hexDigest(10) + " admin rate=1/s",
	}, "\n")
	accounts, err := parseAccounts([]byte(content), defaults)
	require.NoError(t, err)

	want := map[string]Limits{
		"alice":            defaults,
		"bob":              defaults,
		"dave@example.com": {Requests: Rate{10, time.Second}, Characters: defaults.Characters},
		"e-2_f.g":          {Requests: defaults.Requests, Burst: 3, Characters: defaults.Characters},
		"Heidi":            {Characters: Rate{5000, 24 * time.Hour}},
		"9":                {Requests: defaults.Requests, Burst: 50},
		"admin":            {Requests: Rate{1, time.Second}, Characters: defaults.Characters},
	}
	require.Len(t, accounts, len(want))
	for _, a := range accounts {
		assert.Equal(t, want[a.name], a.limits, a.name)
		assert.Equal(t, a.name == "admin", a.admin, a.name)
	}
	assert.Len(t, accounts[0].digests, 1)
	assert.Equal(t, byte(1), accounts[0].digests[0][31])
	require.Len(t, accounts[1].digests, 2)
	assert.Equal(t, byte(0xbc), accounts[1].digests[1][31])
}

func TestParseAccountsRefuses(t *testing.T) {
	one := hexDigest(1)
	key := NewKey()
	for _, test := range []struct {
		name, content, want string
	}{
		{"nothing", "", "there are no keys"},
		{"blank lines", " \n\t\r\n\n", "there are no keys"},
		{"only comments", "# alice " + one, "there are no keys"},
		{"only a name", "alice", "line 1: there is no digest after the name"},
		{"only a name, with limits", "alice rate=1/s", "line 1: there is no digest after the name"},
		{"no name", one, "line 1: a line begins with a name"},
		{"a name with odd letters", "al/ice " + one, "line 1: a line begins with a name"},
		{"a name in another script", "アリス " + one, "line 1: a line begins with a name"},
		{"a long name", strings.Repeat("a", 64) + " " + one, "line 1: a line begins with a name"},
		{"a key", "\n\nalice " + key, "line 3: this is a key itself"},
		{"a key as the name", key + " " + one, "line 1: this is a key itself"},
		{"a key as a limit", "alice " + one + " rate=" + key, "line 1: this is a key itself"},
		{"half a digest", "alice " + one[:40], "line 1: field 2: a digest is sha256: and 64"},
		{"a long digest", "alice " + one + "0", "line 1: field 2: a digest is sha256: and 64"},
		{"another hash", "alice md5:d41d8cd98f00b204e9800998ecf8427e", "line 1: field 2: a digest is sha256: and 64"},
		{"odd digits", "alice sha256:" + strings.Repeat("g", 64), "line 1: field 2: a digest has hexadecimal digits only"},
		{"a second digest that is wrong", "alice " + one + " " + one[1:], "line 1: field 3: a digest is"},
		{"a name twice", "alice " + one + "\nbob " + hexDigest(2) + "\nalice " + hexDigest(3), `line 3: "alice" has line 1 already`},
		{"a digest twice", "alice " + one + "\nbob " + hexDigest(2) + "\ncarol " + one, "line 3: the digest is in line 1 already"},
		{"a digest twice in a line", "alice " + one + " " + one, "line 1: the digest is in line 1 already"},
		{"a limit twice", "alice " + one + " rate=1/s rate=2/s", `line 1: "rate" is given twice`},
		{"an unknown limit", "alice " + one + " speed=1/s", "line 1: after the digests come admin and limits"},
		{"admin after limits", "alice " + one + " rate=1/s admin", "line 1: after the digests come admin and limits"},
		{"admin twice", "alice " + one + " admin admin", "line 1: after the digests come admin and limits"},
		{"a digest after admin", "alice " + one + " admin " + hexDigest(2), "line 1: after the digests come admin and limits"},
		{"admin without a digest", "alice admin", "line 1: there is no digest after the name"},
		{"a digest after limits", "alice " + one + " rate=1/s " + hexDigest(2), "line 1: after the digests come admin and limits"},
		{"a rate without a unit", "alice " + one + " rate=10", `line 1: "rate": "10" is not a rate`},
		{"a rate of nothing", "alice " + one + " rate=0/s", `line 1: "rate": "0/s" is not a rate`},
		{"an empty rate", "alice " + one + " rate=", `line 1: "rate": "" is not a rate`},
		{"characters of nothing", "alice " + one + " chars=x/m", `line 1: "chars": "x/m" is not a rate`},
		{"a burst of nothing", "alice " + one + " rate=1/s burst=0", `line 1: "burst": "0" is not a number`},
		{"a burst below nothing", "alice " + one + " rate=1/s burst=-1", `line 1: "burst": "-1" is not a number`},
		{"a huge burst", "alice " + one + " rate=1/s burst=1000001", `line 1: "burst": "1000001" is not a number`},
		{"a burst alone", "alice " + one + " burst=5", "line 1: a burst of 5 requests without a rate"},
		{"a burst without a limit", "alice " + one + " rate=unlimited burst=5", "line 1: a burst of 5 requests without a rate"},
		{"two callers in one line", "alice " + one + " bob " + hexDigest(2), "line 1: field 3: a digest is"},
		{"other text", "{\"alice\": \"" + one + "\"}", "line 1: a line begins with a name"},
		{"no text", "\x00\x01\x02", "line 1: a line begins with a name"},
		{"lines of an old Mac", "alice " + one + "\rbob " + hexDigest(2), "line 1: field 3: a digest is"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parseAccounts([]byte(test.content), Limits{})
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), keyPrefix)
			assert.NotContains(t, err.Error(), "\n")
		})
	}

	var many strings.Builder
	for i := range maxAccounts + 1 {
		fmt.Fprintf(&many, "n%d %s\n", i, hexDigest(i))
	}
	_, err := parseAccounts([]byte(many.String()), Limits{})
	assert.EqualError(t, err, "it has 10001 callers, at most 10000 are possible")
}

func FuzzParseAccounts(f *testing.F) {
	key := NewKey()
	for _, s := range []string{
		"alice " + hexDigest(1), "alice " + hexDigest(1) + " " + hexDigest(2) + " rate=1/s burst=2 chars=3/m # x",
		"alice " + key, "# only", "alice rate=1/s", "alice sha256:00", "\ufeffalice " + hexDigest(1) + "\r\n\r\nbob " + hexDigest(2),
	} {
		f.Add(s)
	}
	defaults := Limits{Requests: Rate{5, time.Second}, Burst: 50}
	f.Fuzz(func(t *testing.T, s string) {
		accounts, err := parseAccounts([]byte(s), defaults)
		if err != nil {
			assert.Nil(t, accounts)
			assert.Less(t, len(err.Error()), 700)
			assert.NotContains(t, err.Error(), keyPrefix)
			return
		}
		require.NotEmpty(t, accounts)
		names := make(map[string]bool)
		digests := make(map[digest]bool)
		for _, a := range accounts {
			assert.Regexp(t, namePattern, a.name)
			assert.False(t, names[a.name])
			names[a.name] = true
			assert.NotEmpty(t, a.digests)
			assert.NoError(t, a.limits.Validate())
			for _, d := range a.digests {
				assert.False(t, digests[d])
				digests[d] = true
			}
		}
		made := newTable(accounts, &table{}, time.Now())
		for _, a := range accounts {
			for _, d := range a.digests {
				assert.Equal(t, a.name, made.keys[d].name)
				d[31]++
				if !digests[d] {
					assert.Nil(t, made.keys[d])
				}
			}
		}
	})
}
