/**
 * Files on their way into group sessions. A file is kept in IndexedDB until it is whole at the server, so an offline spell
 * or a reload only interrupts it: what the server has isn't sent again. One tab at a time sends it (a Web Lock).
 *
 * An entry: `{id, account, group, file, hash, chunks}`; `model.uploads` has them with `done` (a share of 1) and `problem`.
 */
import { model, changed } from '../core/model.js'
import { newKey } from '../core/time.js'
import { all, get, put, remove, update } from './database.js'
import { ask } from './api.js'
import { accessToken } from './accounts.js'
import { Problem } from './http.js'
import { rest, verdict } from './retries.js'

const chunkSize = 65_536
/** How many chunks a request carries, and how many the session adopts with one command. */
const chunksAtOnce = 4
const adoptedAtOnce = 64
const requestsAtOnce = 3

const channel = new BroadcastChannel('quartet-uploads')
channel.onmessage = ({ data }) => (data.done === undefined ? resumeUploads() : note(data))

/** What this tab heard of each one. */
const progress = new Map()

function note({ id, ...fields }) {
  progress.set(id, { ...progress.get(id), ...fields })
  show()
}

function show() {
  model.uploads = model.uploads.map((entry) => ({ ...entry, ...progress.get(entry.id) }))
  changed()
}

function report(fields) {
  channel.postMessage(fields)
  note(fields)
}

/** Begins to share a file. */
export async function share(group, file) {
  await put('uploads', { account: model.account.account, group, file, name: file.name, size: file.size })
  channel.postMessage({})
  await resumeUploads()
}

/** Stops, and forgets what was sent. */
export async function cancelUpload({ id, hash }) {
  await remove('uploads', id)
  if (hash) ask('DELETE', `/v1/uploads/${hash}`).catch(() => {})
  channel.postMessage({})
  await resumeUploads()
}

/** Goes on with all that isn't whole: at the beginning, and when the connection is back. */
export async function resumeUploads() {
  const account = model.account?.account
  tries.clear()
  model.uploads = (await all('uploads')).filter((entry) => entry.account === account)
  show()
  for (const { id } of model.uploads) send(id)
}

const sending = new Set()
/** How often each was tried in vain, since it was begun or the connection came back. */
const tries = new Map()

async function send(id) {
  if (sending.has(id)) return
  sending.add(id)
  try {
    await navigator.locks.request(`quartet-upload-${id}`, () => attempt(id))
  } finally {
    sending.delete(id)
  }
}

async function attempt(id) {
  const entry = await get('uploads', id)
  if (!entry || entry.account !== model.account?.account) return
  try {
    report({ id, done: 0, problem: undefined })
    await upload(entry)
    await finish(id)
  } catch (error) {
    if (error instanceof Cancelled || over.includes(error.code)) return finish(id)
    const isFinal = error instanceof Problem && error.status !== 429 && verdict(error) === 'decided'
    if (isFinal) return report({ id, done: 0, problem: error.message })
    tries.set(id, (tries.get(id) ?? 0) + 1)
    setTimeout(() => send(id), rest(tries.get(id), false, error.retryAfter))
  }
}

async function finish(id) {
  await remove('uploads', id)
  progress.delete(id)
  channel.postMessage({})
  await resumeUploads()
}

class Cancelled extends Error {}

/** Refusals that mean that the session is over for this person, and the file with it. */
const over = ['groupEnded', 'groupNotFound', 'notParticipant']

const requireWanted = async (id) => { if (!(await get('uploads', id))) throw new Cancelled() }

const command = (name, fields) => ask('POST', `/v1/commands/${name}`, { body: fields, key: newKey() })

/** The bytes of some chunks. */
const bytesOf = (file, first, count) => file.slice(first * chunkSize, (first + count) * chunkSize).arrayBuffer()
const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

async function upload(entry) {
  const { id, group, file } = entry
  const chunks = Math.ceil(file.size / chunkSize)
  const attachment = entry.hash ?? await contentHash(file, chunks)
  await update('uploads', id, (stored) => ({ ...stored, hash: attachment }))
  const isReserved = await reserve(group, attachment, file.size)
  if (!isReserved) return
  const known = entry.hash ? await uploaded(attachment) : new Set()
  let sent = known.size
  report({ id, hash: attachment, done: sent / chunks })
  for (let first = 0; first < chunks; first += adoptedAtOnce) {
    const end = Math.min(first + adoptedAtOnce, chunks)
    const parts = []
    for (let number = first; number < end; number += chunksAtOnce) {
      const count = Math.min(chunksAtOnce, end - number)
      if (!Array.from({ length: count }, (_, place) => number + place).every((one) => known.has(one))) parts.push([number, count])
    }
    await Promise.all(Array.from({ length: requestsAtOnce }, async () => {
      for (let part = parts.shift(); part; part = parts.shift()) {
        await requireWanted(id)
        const [number, count] = part
        const bytes = await bytesOf(file, number, count)
        await ask('PUT', `/v1/uploads/${attachment}/chunks/${number}`, {
          bytes, type: 'application/octet-stream', headers: { 'Content-Digest': `sha-256=:${btoa(String.fromCharCode(...await sha256(bytes)))}:` },
        })
        sent += count
        report({ id, done: Math.min(1, sent / chunks) })
      }
    }))
    await command('AdoptChunks', { group, attachment, first, count: end - first })
  }
  await requireWanted(id)
  await command('CompleteAttachment', { group, attachment, chunks, name: file.name, contentType: typeOf(file) })
}

const typeOf = ({ type }) => (/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(type) ? type : 'application/octet-stream')

/** Reserves its room; false if the session has it already. */
async function reserve(group, attachment, size) {
  try {
    await command('BeginAttachment', { group, attachment, size })
    return true
  } catch (error) {
    if (error instanceof Problem && error.code === 'attachmentExists') return false
    throw error
  }
}

/** The numbers of the chunks that the server has. */
async function uploaded(attachment) {
  try {
    const { chunks } = (await ask('GET', `/v1/uploads/${attachment}`)).body
    return new Set(chunks.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, place) => first + place)))
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return new Set()
    throw error
  }
}

/** A file's name at the server: the hash of the hashes of its chunks. */
async function contentHash(file, chunks) {
  const hashes = new Uint8Array(32 * chunks)
  for (let number = 0; number < chunks; number++) hashes.set(await sha256(await bytesOf(file, number, 1)), 32 * number)
  return hex(await sha256(hashes))
}

/** A shared file's bytes. `report` hears which share has arrived. */
export async function download(group, { id, size, contentType }, report) {
  const token = await accessToken(model.account.account)
  const response = await fetch(`/v1/groups/${group}/attachments/${id}`, { headers: { Authorization: `Bearer ${token}` }, credentials: 'omit' })
  if (!response.ok) throw new Problem(response.status, await response.json().catch(() => ({})))
  const pieces = []
  let arrived = 0
  for (const reader = response.body.getReader(); ;) {
    const { value, done } = await reader.read()
    if (done) break
    pieces.push(value)
    arrived += value.length
    report(arrived / size)
  }
  return new Blob(pieces, { type: contentType })
}
