// Package limits holds applications to what they may use (design section 10): rates, concurrency and quotas that
// owners set, within ceilings that administrators set.
package limits
