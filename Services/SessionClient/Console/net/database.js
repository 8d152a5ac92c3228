/** IndexedDB as promises. What is kept here survives reloads and is shared by all tabs. */

const stores = {
  /** The accounts that are signed in in this browser, with their sealed tokens. */
  accounts: { keyPath: 'account' },
  /** Keys that scripts can use but not read. */
  keys: {},
  /** Requests that wait to be sent or decided. */
  outbox: { keyPath: 'id', autoIncrement: true },
  /** Files that are being shared. */
  uploads: { keyPath: 'id', autoIncrement: true },
}

let opened

function open() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('quartet', 2)
    request.onupgradeneeded = () => {
      const { result: database } = request
      for (const [name, options] of Object.entries(stores)) {
        if (!database.objectStoreNames.contains(name)) database.createObjectStore(name, options)
      }
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  return opened
}

/** Runs `body(store)` in one transaction; resolves with what the request that it returns gave, once that is stored. */
async function transact(name, mode, body) {
  const database = await open()
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(name, mode)
    const request = body(transaction.objectStore(name))
    transaction.oncomplete = () => resolve(request?.result)
    transaction.onerror = transaction.onabort = () => reject(transaction.error)
  })
}

export const get = (name, key) => transact(name, 'readonly', (store) => store.get(key))
export const all = (name) => transact(name, 'readonly', (store) => store.getAll())
export const put = (name, value, key) => transact(name, 'readwrite', (store) => store.put(value, key))
export const remove = (name, key) => transact(name, 'readwrite', (store) => store.delete(key))

/** Changes a stored value in one transaction. Does nothing where there is none. */
export const update = (name, key, change) =>
  transact(name, 'readwrite', (store) => {
    const request = store.get(key)
    request.onsuccess = () => { if (request.result) store.put(change(request.result)) }
  })

/** The stored value; `value` becomes it where there is none. */
export const getOrAdd = async (name, key, value) => {
  await transact(name, 'readwrite', (store) => {
    const request = store.get(key)
    request.onsuccess = () => { if (request.result === undefined) store.put(value, key) }
  })
  return get(name, key)
}
