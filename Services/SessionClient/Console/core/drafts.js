/**
 * What a person typed and didn't send: kept for this tab in sessionStorage, so that it survives a reload. Passwords and
 * codes are never drafts.
 */
import { model, changed } from './model.js'

const nameOf = (form) => `draft/${model.account?.account ?? 'nobody'}/${form}`
const cache = new Map()

/** The fields that were typed into a form; an empty object while there is none. */
export function draft(form) {
  const name = nameOf(form)
  if (!cache.has(name)) cache.set(name, JSON.parse(sessionStorage.getItem(name) ?? '{}'))
  return cache.get(name)
}

export function setDraft(form, fields) {
  const name = nameOf(form)
  const next = { ...draft(form), ...fields }
  cache.set(name, next)
  sessionStorage.setItem(name, JSON.stringify(next))
  changed()
}

export function dropDraft(form) {
  cache.delete(nameOf(form))
  sessionStorage.removeItem(nameOf(form))
  changed()
}

/** Takes what a form has now. The function that it returns drops that, once it is sent, but not what was typed since. */
export function takeDraft(form) {
  const [name, sent] = [nameOf(form), draft(form)]
  return () => {
    const rest = Object.entries(cache.get(name) ?? {}).filter(([field, value]) => value !== sent[field])
    cache.set(name, Object.fromEntries(rest))
    rest.length ? sessionStorage.setItem(name, JSON.stringify(Object.fromEntries(rest))) : sessionStorage.removeItem(name)
    changed()
  }
}

/** Forgets everything that was typed for an account. */
export function dropDrafts(account) {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(`draft/${account}/`)) sessionStorage.removeItem(name)
  cache.clear()
}
