/** Reads server-sent events (WHATWG HTML, section 9.2) from pieces of text. */
export class EventReader {
  #rest = ''

  /** The events that the next piece completes: `{id, event, data}`. */
  push(piece) {
    const blocks = (this.#rest + piece).split('\n\n')
    this.#rest = blocks.pop()
    return blocks.map(readBlock).filter((event) => event.data !== undefined)
  }
}

function readBlock(block) {
  const event = {}
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const value = line.slice(colon + 1).replace(/^ /, '')
    const name = line.slice(0, colon)
    event[name] = name === 'data' && event.data !== undefined ? `${event.data}\n${value}` : value
  }
  return event
}
