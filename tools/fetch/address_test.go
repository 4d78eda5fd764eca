package fetch

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"code.dny.dev/ssrf"
	"github.com/stretchr/testify/require"
)

func TestAddressesThatAreNotThePublicInternet(t *testing.T) {
	for address, class := range map[string]string{
		"127.0.0.1": classLoopback, "127.255.255.255": classLoopback, "0.0.0.0": classLoopback, "::1": classLoopback, "::": classLoopback,
		"10.0.0.1": classPrivate, "172.16.0.1": classPrivate, "172.31.255.255": classPrivate, "192.168.1.1": classPrivate, "fd12::1": classPrivate, "fc00::": classPrivate,
		"169.254.169.254": classLocal, "fe80::1": classLocal, "100.64.0.1": classShared, "100.127.255.255": classShared,
		"100.100.100.200": classMetadata, "168.63.129.16": classMetadata, "192.0.0.192": classMetadata, "fd00:ec2::254": classMetadata,
		"224.0.0.1": classMulticast, "ff02::1": classMulticast, "255.255.255.255": classReserved, "240.0.0.1": classReserved,
		"192.0.2.1": classReserved, "198.18.0.1": classReserved, "198.51.100.1": classReserved, "203.0.113.1": classReserved, "2001:db8::1": classReserved, "3fff::1": classReserved,
		"::ffff:127.0.0.1": classEmbedded, "::ffff:8.8.8.8": classEmbedded, "64:ff9b::7f00:1": classEmbedded, "64:ff9b:1::1": classEmbedded,
		"2002:7f00:1::": classEmbedded, "2001:0:1::1": classEmbedded, "::7f00:1": classEmbedded, "::ffff:0:7f00:1": classEmbedded,
		"2600::5efe:7f00:1": classEmbedded, "2600::200:5efe:7f00:1": classEmbedded,
		"5f00::1": classReserved, "1::1": classReserved, "100::1": classReserved, "4000::1": classReserved, "fe80::1%lo": classZone, "2600::1%eth0": classZone,

		"1.1.1.1": "", "8.8.8.8": "", "93.184.216.34": "", "9.255.255.255": "", "11.0.0.0": "", "172.15.255.255": "", "172.32.0.0": "", "192.167.255.255": "", "192.169.0.0": "",
		"100.63.255.255": "", "100.128.0.0": "", "126.255.255.255": "", "128.0.0.0": "", "169.253.255.255": "", "169.255.0.0": "", "223.255.255.255": "",
		"2606:4700::1111": "", "2001:4860:4860::8888": "", "2a00:1450::1": "", "3ffe:ffff::1": "", "2003::1": "",
	} {
		require.Equal(t, class, classOf(netip.MustParseAddr(address)), address)
	}
	require.Equal(t, classReserved, classOf(netip.Addr{}))
}

// The oracle is another guard's rule. Where it refuses, so do we: at the edges of all
// ranges, and at random.
func TestAddressesAgreeWithAnOracle(t *testing.T) {
	oracle := ssrf.New(ssrf.WithAnyPort())
	refusedThere := func(a netip.Addr) bool {
		network := "tcp4"
		if a.Is6() {
			network = "tcp6"
		}
		return oracle.Safe(network, netip.AddrPortFrom(a, 443).String(), nil) != nil
	}
	var addrs []netip.Addr
	for _, s := range specials {
		first, last := s.prefix.Addr(), lastOf(s.prefix)
		addrs = append(addrs, first, first.Prev(), first.Next(), last, last.Prev(), last.Next())
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var four [4]byte
		var six [16]byte
		for i := range six {
			six[i] = byte(r.Uint32())
		}
		copy(four[:], six[:])
		if r.IntN(2) == 0 {
			six[0] = 0x20 | six[0]&0x1f
		}
		addrs = append(addrs, netip.AddrFrom4(four), netip.AddrFrom16(six))
	}
	stricter, both := 0, 0
	for _, a := range addrs {
		if !a.IsValid() {
			continue
		}
		ours, theirs := classOf(a) != "", refusedThere(a)
		require.False(t, theirs && !ours, "%v is refused by the oracle", a)
		switch {
		case ours && theirs:
			both++
		case ours:
			stricter++
			require.True(t, isStricter(a), "%v is refused by us alone", a)
		}
	}
	require.Greater(t, both, 1000)
	require.Greater(t, stricter, 0)
}

// isStricter: what we refuse and the oracle does not. These are metadata services at
// public addresses, AMT and AS112 of the registry, and IPv4 inside IPv6.
func isStricter(a netip.Addr) bool {
	for _, p := range []string{"168.63.129.16/32", "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24", "2620:4f:8000::/48", "2001::/23"} {
		if netip.MustParsePrefix(p).Contains(a) {
			return true
		}
	}
	return isISATAP(a)
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
