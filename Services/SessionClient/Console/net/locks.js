/** What one tab does at a time, by Web Locks. */

/** How long the tab that does it may take before another takes over: browsers freeze tabs in the background, with their locks. */
const patience = 45_000
/** The same for what lives may depend on, and for what that waits for. */
export const urgentPatience = 5000

/**
 * Does something that no other tab does at the same time, and that ends within the patience. What is done must be safe to
 * do twice, as requests under a stored Idempotency-Key are: a tab that was frozen in the middle goes on when it is shown again.
 */
export async function exclusively(name, work, isUrgent = false) {
  const waiting = new AbortController()
  const timer = setTimeout(() => waiting.abort(), isUrgent ? urgentPatience : patience)
  const begin = () => { clearTimeout(timer); return work() }
  try {
    return await navigator.locks.request(name, { signal: waiting.signal }, begin)
  } catch (error) {
    if (!waiting.signal.aborted || error.name !== 'AbortError') throw error
    return navigator.locks.request(name, { steal: true }, work)
  } finally {
    clearTimeout(timer)
  }
}
