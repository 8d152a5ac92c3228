/** What `/metrics` says, read again and again: rates and percentiles between two readings. */

/** Prometheus's text format as a list of `{name, labels, value}`. */
export function parse(text) {
  return text.split('\n').flatMap((line) => {
    const found = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (!found) return []
    const labels = Object.fromEntries([...(found[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]))
    return [{ name: found[1], labels, value: Number(found[3]) }]
  })
}

/** The sum of a metric, by a label. */
export function sums(samples, name, label) {
  const found = {}
  for (const one of samples) {
    if (one.name !== name) continue
    const key = label ? one.labels[label] : ''
    found[key] = (found[key] ?? 0) + one.value
  }
  return found
}

/** The buckets of a histogram over all its series: `[[bound, count]]`. */
export const buckets = (samples, name) =>
  Object.entries(sums(samples, `${name}_bucket`, 'le'))
    .map(([bound, count]) => [bound === '+Inf' ? Infinity : Number(bound), count]).sort((a, b) => a[0] - b[0])

/** The bound under which a share of what was counted between two readings lies; undefined if nothing was. */
export function percentile(before, after, share) {
  const counts = after.map(([bound, count], place) => [bound, count - (before[place]?.[1] ?? 0)])
  const total = counts.at(-1)?.[1] ?? 0
  if (total <= 0) return undefined
  const found = counts.find(([, count]) => count >= share * total)
  return found[0] === Infinity ? counts.at(-2)?.[0] : found[0]
}
