/**
 * Seals what must not lie readable in the browser's files: refresh and access tokens. The key is in IndexedDB, and the
 * browser doesn't give its bytes to scripts; it only encrypts and decrypts for this origin.
 */
import { get, getOrAdd } from './database.js'

const algorithm = 'AES-GCM'
let key

/** Reads the key, if there is one, before it is needed. */
export const prepare = async () => { key ??= await get('keys', 'tokens') }

async function theKey() {
  await prepare()
  return (key ??= await getOrAdd('keys', 'tokens', await crypto.subtle.generateKey({ name: algorithm, length: 256 }, false, ['encrypt', 'decrypt'])))
}

export async function seal(value) {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  return { iv, bytes: await crypto.subtle.encrypt({ name: algorithm, iv }, await theKey(), bytes) }
}

export async function unseal({ iv, bytes }) {
  return JSON.parse(new TextDecoder().decode(await crypto.subtle.decrypt({ name: algorithm, iv }, await theKey(), bytes)))
}
