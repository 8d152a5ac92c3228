/**
 * The language that the page speaks. English stands where it is used, and `languages` has a file for each other language, which is
 * loaded when it is chosen: texts by the English ones, where `{0}` stands for the first of what a text shows.
 */

/** The languages that there are, by their codes, each as its speakers call it. */
export const languages = { en: 'English', de: 'Deutsch' }

const setting = 'language'
/** For how many milliseconds texts may take to load. The page doesn't wait for all of it (app.js). */
const patience = 20000

const baseOf = (tag) => tag.split('-')[0].toLowerCase()
/** The browser's own tag for a language, as `de-AT`. Some systems have tags that Intl refuses, as `en-US@posix`. */
const localeOf = (code) => navigator.languages.find((tag) => baseOf(tag) === code && isLocale(tag)) ?? code

function isLocale(tag) {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

let code = 'en'
let locale = localeOf(code)
/** By the English ones; undefined for English. */
let texts

export const language = () => code

/** What was chosen in this browser; an empty string means the browser's own language. Some browsers refuse access to localStorage. */
export function languageSetting() {
  try {
    return localStorage.getItem(setting) ?? ''
  } catch {
    return ''
  }
}

/** The one that was chosen, or the first of the browser's that there is. */
export const wantedLanguage = () => [languageSetting(), ...navigator.languages.map(baseOf), 'en'].find((one) => Object.hasOwn(languages, one))

/**
 * Speaks the language that is wanted. While that can't be loaded, what was spoken before goes on.
 * @throws if it can't be loaded
 */
export async function speak() {
  const wanted = wantedLanguage()
  const loaded = wanted === 'en' ? undefined : await load(wanted)
  // Another one was chosen meanwhile.
  if (wanted !== wantedLanguage()) return
  texts = loaded
  code = wanted
  locale = localeOf(code)
  document.documentElement.lang = code
}

async function load(wanted) {
  const response = await fetch(new URL(`languages/${wanted}.json`, import.meta.url), { credentials: 'omit', signal: AbortSignal.timeout(patience) })
  if (!response.ok) throw new Error(`languages/${wanted}.json: ${response.status}`)
  return new Map(Object.entries(await response.json()))
}

let choices = 0

/**
 * Chooses a language for this browser, and speaks it.
 * @param {string} chosen empty: the browser's own
 */
export async function chooseLanguage(chosen) {
  const before = languageSetting()
  const mine = ++choices
  const store = (value) => (value ? localStorage.setItem(setting, value) : localStorage.removeItem(setting))
  try {
    store(chosen)
    await speak()
  } catch (error) {
    // Another one was chosen meanwhile.
    if (mine !== choices) return
    store(before)
    throw error
  }
}

/** A text in the language that is spoken: t`You asked ${name}`. Where constants of modules are made, none is spoken yet. */
export function t(parts, ...values) {
  const text = texts?.get(parts.reduce((key, part, place) => `${key}{${place - 1}}${part}`))
  return text === undefined ? parts.reduce((said, part, place) => `${said}${values[place - 1]}${part}`) : filled(text, values)
}

const filled = (text, values) => text.replace(/\{(\d)\}/g, (_, place) => values[place])

/** A text that has a name of its own, since English has it from the server; undefined in English, and where there is none. */
export const named = (name, ...values) => (texts?.has(name) ? filled(texts.get(name), values) : undefined)

/** A sentence that the server wrote, in English; as it is, if it is nobody's but an operator's. */
export const served = (text) => translated(text) ?? text

/** The same, or undefined if it isn't known. A number in it may be any. */
export function translated(text) {
  const [number] = text.match(/\d+/) ?? []
  return named(text) ?? (number && named(text.replace(number, '{0}'), number))
}

/** Makes something for a locale when it is first needed, because that takes a while; another one once another language is spoken. */
export function lazily(make) {
  let made, madeFor
  return () => {
    if (madeFor !== locale) {
      made = make(locale)
      madeFor = locale
    }
    return made
  }
}

const rules = lazily((locale) => new Intl.PluralRules(locale))
/** What is said of one, or of another number. */
export const plural = (count, one, other) => (rules().select(count) === 'one' ? one : other)

const conjunction = lazily((locale) => new Intl.ListFormat(locale))
/** `Anna`, `Anna and Bob`. */
export const both = (names) => conjunction().format(names)
