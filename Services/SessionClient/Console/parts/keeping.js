/** Takes something out of the page: to the clipboard, or as a file. */
import { t } from '../core/language.js'
import { setProblem } from '../core/problems.js'
import { toast } from '../core/toasts.js'

/** Copies a text; `place` is where it is said that the browser doesn't allow that. */
export async function copy(text, place) {
  try {
    await navigator.clipboard.writeText(text)
    setProblem(place)
    toast(t`Copied`, 'good')
  } catch {
    setProblem(place, new Error(t`This browser doesn’t let the page copy it. Select it and copy it yourself.`))
  }
}

/** Has the browser save a file. It isn't shown, whatever type it claims. */
export function saveAs(blob, name) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
