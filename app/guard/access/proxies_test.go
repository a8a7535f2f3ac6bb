package access

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTrustedProxies(t *testing.T) {
	for _, test := range []struct{ list, want []string }{
		{nil, nil},
		{[]string{"", "  "}, nil},
		{[]string{"10.0.0.7"}, []string{"10.0.0.7/32"}},
		{[]string{" 10.1.2.3/8 ", "::1", "fd00::/8"}, []string{"10.0.0.0/8", "::1/128", "fd00::/8"}},
	} {
		got, err := TrustedProxies(test.list)
		require.NoError(t, err)
		require.Len(t, got, len(test.want))
		for i, network := range got {
			assert.Equal(t, test.want[i], network.String())
		}
	}
	for _, item := range []string{
		"proxy", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "10.0.0.1:80", "010.0.0.1", "fe80::1%eth0",
		"fe80::1%eth0/64", "::ffff:10.0.0.1", "::ffff:10.0.0.0/104", "*", "0.0.0.0/0", "::/0", "10.0.0.0/8;::1", "１0.0.0.1",
	} {
		got, err := TrustedProxies([]string{"10.0.0.0/8", item})
		require.Error(t, err, item)
		assert.Nil(t, got)
	}
}
