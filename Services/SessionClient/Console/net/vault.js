/**
 * Seals what must not lie readable in the browser's files: refresh and access tokens. The key is in IndexedDB, and the
 * browser doesn't give its bytes to scripts; it only encrypts and decrypts for this origin.
 */
import { getOrAdd } from './database.js'

const algorithm = 'AES-GCM'
let key

async function theKey() {
  key ??= crypto.subtle.generateKey({ name: algorithm, length: 256 }, false, ['encrypt', 'decrypt'])
    .then((made) => getOrAdd('keys', 'tokens', made))
  return key
}

export async function seal(value) {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  return { iv, bytes: await crypto.subtle.encrypt({ name: algorithm, iv }, await theKey(), bytes) }
}

export async function unseal({ iv, bytes }) {
  return JSON.parse(new TextDecoder().decode(await crypto.subtle.decrypt({ name: algorithm, iv }, await theKey(), bytes)))
}
