/**
 * Seals refresh and access tokens before they are stored, under a key that scripts can use and not read (`extractable: false`). So a
 * script that once ran in the page can't carry the key away, and the tokens don't lie in the open beside everything else. It is no
 * protection against somebody who copies the browser's profile: the key lies in the same IndexedDB, and browsers may write its bytes
 * as they are. deploy/SECURITY.md says what protects against that.
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

export async function sealText(text) {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  return { iv, bytes: await crypto.subtle.encrypt({ name: algorithm, iv }, await theKey(), new TextEncoder().encode(text)) }
}

export const unsealText = async ({ iv, bytes }) =>
  new TextDecoder().decode(await crypto.subtle.decrypt({ name: algorithm, iv }, await theKey(), bytes))

export const seal = (value) => sealText(JSON.stringify(value))
export const unseal = async (sealed) => JSON.parse(await unsealText(sealed))
