package main

import (
	"math/bits"
	"time"
)

// latencies is a histogram of times: any number of them in 16 KB, each told to
// within 1.6 %. It is not safe for use by several goroutines.
type latencies struct {
	buckets [64 * steps]uint32
	count   int
	most    time.Duration
}

// steps is how many buckets a power of two has.
const steps = 64

func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 0))
	if us < steps {
		return int(us)
	}
	shift := bits.Len64(us) - 7 // leaves steps to 2*steps - 1
	return shift*steps + int(us>>shift)
}

// middleOf is the time in the middle of a bucket.
func middleOf(bucket int) time.Duration {
	if bucket < 2*steps {
		return time.Duration(bucket) * time.Microsecond
	}
	shift := bucket/steps - 1
	us := uint64(bucket-shift*steps)<<shift + uint64(1)<<shift/2
	return time.Duration(us) * time.Microsecond
}

func (l *latencies) add(d time.Duration) {
	l.buckets[bucketOf(d)]++
	l.count++
	l.most = max(l.most, d)
}

func (l *latencies) merge(o *latencies) {
	for i, n := range o.buckets {
		l.buckets[i] += n
	}
	l.count += o.count
	l.most = max(l.most, o.most)
}

// quantile returns the time that a part of all, such as 0.99, don't exceed; 0 of none.
func (l *latencies) quantile(part float64) time.Duration {
	want, seen := uint64(part*float64(l.count)), uint64(0)
	for bucket, n := range l.buckets {
		if seen += uint64(n); n > 0 && seen >= max(want, 1) {
			return min(middleOf(bucket), l.most)
		}
	}
	return 0
}
