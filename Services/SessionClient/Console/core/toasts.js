/** Short messages that go by themselves. */
import { model, changed } from './model.js'

/** Shown for a moment in this tab, and never stored (S40). */
export function toast(text, tone = 'neutral') {
  const one = { text, tone, id: crypto.randomUUID() }
  model.toasts = [...model.toasts.filter((other) => other.text !== text), one]
  setTimeout(() => {
    model.toasts = model.toasts.filter((other) => other !== one)
    changed()
  }, tone === 'critical' ? 8000 : 3000)
  changed()
}
