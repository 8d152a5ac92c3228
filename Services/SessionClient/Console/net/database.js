/** IndexedDB as promises. What is kept here survives reloads and is shared by all tabs. */
import { t } from '../core/language.js'

const stores = {
  /** The accounts that are signed in in this browser, with their sealed tokens. */
  accounts: { keyPath: 'account' },
  /** By their names: the key that seals, which scripts can use but not read, what is sealed with it (net/kept.js), and the language that is spoken. */
  keys: {},
  /** Requests that wait to be sent or decided. */
  outbox: { keyPath: 'id', autoIncrement: true },
  /** Files that are being shared. */
  uploads: { keyPath: 'id', autoIncrement: true },
}

/** The promise of the open database; undefined until it is needed, and again once it is closed. */
let opened
let listener = () => {}

/** Calls `function_` with true when a tab with an earlier version of this page holds the database, and with false when it lets go. */
export function observeBlocking(function_) {
  listener = function_
}

function open() {
  opened ??= opening().catch((error) => {
    opened = undefined
    throw error.name === 'VersionError' ? new Error(t`Quartet was updated in another tab. Reload this page.`) : error
  })
  return opened
}

const opening = () => new Promise((resolve, reject) => {
  const request = indexedDB.open('quartet', 2)
  request.onupgradeneeded = () => {
    const { result: database } = request
    for (const [name, options] of Object.entries(stores)) {
      if (!database.objectStoreNames.contains(name)) database.createObjectStore(name, options)
    }
  }
  request.onblocked = () => listener(true)
  request.onsuccess = () => {
    const { result: database } = request
    listener(false)
    // A later version of this page, in another tab, waits for this one to let go.
    database.onversionchange = () => { database.close(); opened = undefined }
    // Browsers drop connections of pages in the background.
    database.onclose = () => { opened = undefined }
    resolve(database)
  }
  request.onerror = () => reject(request.error)
})

/**
 * Runs `body(store)` in one transaction, or `body(store, another)` of two; resolves with what the request that it returns gave, once
 * that is stored.
 */
async function transact(names, mode, body) {
  const transaction = await begin(names, mode)
  return new Promise((resolve, reject) => {
    const request = body(...[names].flat().map((name) => transaction.objectStore(name)))
    transaction.oncomplete = () => resolve(request?.result)
    transaction.onerror = transaction.onabort = () => reject(transaction.error)
  })
}

/** A transaction; of a database that is opened again if it was closed meanwhile. */
async function begin(names, mode) {
  const known = open()
  try {
    return (await known).transaction(names, mode)
  } catch (error) {
    if (error.name !== 'InvalidStateError') throw error
    if (opened === known) opened = undefined
    return (await open()).transaction(names, mode)
  }
}

export const get = (name, key) => transact(name, 'readonly', (store) => store.get(key))
export const all = (name) => transact(name, 'readonly', (store) => store.getAll())
export const keysOf = (name) => transact(name, 'readonly', (store) => store.getAllKeys())
export const put = (name, value, key) => transact(name, 'readwrite', (store) => store.put(value, key))
export const remove = (name, key) => transact(name, 'readwrite', (store) => store.delete(key))

/** Changes a stored value in one transaction. Does nothing where there is none. */
export const update = (name, key, change) =>
  transact(name, 'readwrite', (store) => {
    const request = store.get(key)
    request.onsuccess = () => { if (request.result) store.put(change(request.result)) }
  })

/** Stores a value if what another store has, and what is there already, are right; in one transaction. */
export const putBeside = (name, key, value, other, otherKey, isRight) =>
  transact([name, other], 'readwrite', (store, beside) => {
    const stored = store.get(key)
    const request = beside.get(otherKey)
    request.onsuccess = () => { if (isRight(request.result, stored.result)) store.put(value, key) }
  })

/** Removes a stored value and resolves with it, in one transaction; undefined where there is none. */
export const take = (name, key) =>
  transact(name, 'readwrite', (store) => {
    const request = store.get(key)
    store.delete(key)
    return request
  })

/** The stored value; `value` becomes it where there is none. */
export const getOrAdd = async (name, key, value) => {
  await transact(name, 'readwrite', (store) => {
    const request = store.get(key)
    request.onsuccess = () => { if (request.result === undefined) store.put(value, key) }
  })
  return get(name, key)
}
