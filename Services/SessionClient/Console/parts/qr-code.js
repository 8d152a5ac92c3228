/**
 * QR codes (ISO/IEC 18004) of up to 213 bytes: byte mode, error correction level M, versions 1 to 10.
 *
 *     const rows = qrCode('https://example.org')   // true is dark
 */

/** Of each version: how many codewords there are, how many of a block correct errors, and how many blocks. */
const versions = [
  [26, 10, 1], [44, 16, 1], [70, 26, 1], [100, 18, 2], [134, 24, 2], [172, 16, 4], [196, 18, 4], [242, 22, 4], [292, 22, 5], [346, 26, 5],
]
const alignments = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]]

export function qrCode(text) {
  const bytes = new TextEncoder().encode(text)
  const version = versions.findIndex(([total, correction, blocks], index) =>
    bytes.length + (index < 9 ? 2 : 3) <= total - correction * blocks) + 1
  if (!version) throw new RangeError('too long for a QR code')
  const code = new Matrix(version)
  code.drawData(interleaved(encode(bytes, version), version))
  return code.bestMasked()
}

/** The data codewords: mode, length, bytes, and padding to the capacity. */
function encode(bytes, version) {
  const [total, correction, blocks] = versions[version - 1]
  const capacity = total - correction * blocks
  const bits = []
  const add = (value, count) => { for (let place = count - 1; place >= 0; place--) bits.push((value >>> place) & 1) }
  add(0b0100, 4)
  add(bytes.length, version < 10 ? 8 : 16)
  for (const byte of bytes) add(byte, 8)
  add(0, Math.min(4, capacity * 8 - bits.length))
  while (bits.length % 8) bits.push(0)
  for (let padding = 0xec; bits.length < capacity * 8; padding ^= 0xec ^ 0x11) add(padding, 8)
  return Array.from({ length: capacity }, (_, place) => bits.slice(place * 8, place * 8 + 8).reduce((byte, bit) => byte * 2 + bit, 0))
}

/** Splits into blocks, the later ones a byte longer, adds their corrections, and takes turns. */
function interleaved(data, version) {
  const [, correction, count] = versions[version - 1]
  const short = Math.floor(data.length / count)
  const longFrom = count - (data.length % count)
  let from = 0
  const blocks = Array.from({ length: count }, (_, index) => data.slice(from, (from += short + (index >= longFrom ? 1 : 0))))
  const divisor = divisorOf(correction)
  const corrections = blocks.map((block) => remainder(block, divisor))
  const turns = (lists) => Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, place) =>
    lists.map((list) => list[place]).filter((byte) => byte !== undefined)).flat()
  return [...turns(blocks), ...turns(corrections)]
}

/** In the field of 256 elements with the polynomial 0x11d. */
function multiply(left, right) {
  let product = 0
  for (let place = 7; place >= 0; place--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d)
    product ^= ((right >>> place) & 1) * left
  }
  return product
}

function divisorOf(degree) {
  const result = [...Array(degree - 1).fill(0), 1]
  let root = 1
  for (let step = 0; step < degree; step++) {
    for (let place = 0; place < degree; place++) {
      result[place] = multiply(result[place], root) ^ (result[place + 1] ?? 0)
    }
    root = multiply(root, 2)
  }
  return result
}

function remainder(data, divisor) {
  const result = Array(divisor.length).fill(0)
  for (const byte of data) {
    const factor = byte ^ result.shift()
    result.push(0)
    divisor.forEach((coefficient, place) => { result[place] ^= multiply(coefficient, factor) })
  }
  return result
}

const masks = [
  (x, y) => (x + y) % 2, (x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
]

class Matrix {
  constructor(version) {
    this.version = version
    this.size = version * 4 + 17
    this.dark = Array.from({ length: this.size }, () => Array(this.size).fill(false))
    this.fixed = Array.from({ length: this.size }, () => Array(this.size).fill(false))
    this.drawPatterns()
  }

  set(x, y, isDark) {
    if (x < 0 || y < 0 || x >= this.size || y >= this.size) return
    this.dark[y][x] = isDark
    this.fixed[y][x] = true
  }

  drawPatterns() {
    for (let place = 0; place < this.size; place++) {
      this.set(6, place, place % 2 === 0)
      this.set(place, 6, place % 2 === 0)
    }
    for (const [x, y] of [[3, 3], [this.size - 4, 3], [3, this.size - 4]]) this.drawSquare(x, y, 4, [2, 4])
    const places = alignments[this.version - 1]
    const last = places.length - 1
    places.forEach((x, column) => places.forEach((y, row) => {
      const isFinder = (column === 0 && row === 0) || (column === 0 && row === last) || (column === last && row === 0)
      if (!isFinder) this.drawSquare(x, y, 2, [1])
    }))
    this.drawFormat(0)
    if (this.version >= 7) this.drawVersion()
  }

  /** A dark square around a centre, with light rings. */
  drawSquare(x, y, radius, light) {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        this.set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))))
      }
    }
  }

  /** Level M (00) and the mask, with their correction, twice. */
  drawFormat(mask) {
    const bits = corrected(mask, 10, 0x537) ^ 0x5412
    const bit = (place) => ((bits >>> place) & 1) === 1
    for (let place = 0; place < 15; place++) {
      const row = place < 6 ? place : place < 8 ? place + 1 : this.size - 15 + place
      this.set(8, row, bit(place))
      const column = place < 8 ? this.size - 1 - place : place === 8 ? 7 : 14 - place
      this.set(column, 8, bit(place))
    }
    this.set(8, this.size - 8, true)
  }

  drawVersion() {
    const bits = corrected(this.version, 12, 0x1f25)
    for (let place = 0; place < 18; place++) {
      const isDark = ((bits >>> place) & 1) === 1
      const [far, near] = [this.size - 11 + (place % 3), Math.floor(place / 3)]
      this.set(far, near, isDark)
      this.set(near, far, isDark)
    }
  }

  /** Upwards and downwards in pairs of columns, from the right. */
  drawData(codewords) {
    let place = 0
    for (let right = this.size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5
      for (let step = 0; step < this.size; step++) {
        const isUpwards = ((right + 1) & 2) === 0
        const y = isUpwards ? this.size - 1 - step : step
        for (const x of [right, right - 1]) {
          if (this.fixed[y][x] || place >= codewords.length * 8) continue
          this.dark[y][x] = ((codewords[place >>> 3] >>> (7 - (place & 7))) & 1) === 1
          place += 1
        }
      }
    }
  }

  masked(mask) {
    this.drawFormat(mask)
    return this.dark.map((row, y) => row.map((isDark, x) => (this.fixed[y][x] ? isDark : isDark !== (masks[mask](x, y) === 0))))
  }

  /** The mask that readers have the least trouble with. */
  bestMasked() {
    const candidates = masks.map((_, mask) => this.masked(mask))
    const costs = candidates.map(penalty)
    return candidates[costs.indexOf(Math.min(...costs))]
  }
}

/** A value with its BCH code behind it. */
function corrected(value, degree, generator) {
  let rest = value
  for (let step = 0; step < degree; step++) rest = (rest << 1) ^ ((rest >>> (degree - 1)) * generator)
  return (value << degree) | rest
}

const finderLike = ['10111010000', '00001011101']

function penalty(rows) {
  const columns = rows[0].map((_, x) => rows.map((row) => row[x]))
  const lines = [...rows, ...columns].map((line) => line.map(Number).join(''))
  let cost = 0
  for (const line of lines) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) cost += run.length - 2
    for (const pattern of finderLike) {
      for (let at = line.indexOf(pattern); at >= 0; at = line.indexOf(pattern, at + 1)) cost += 40
    }
  }
  for (let y = 0; y + 1 < rows.length; y++) {
    for (let x = 0; x + 1 < rows.length; x++) {
      if (rows[y][x] === rows[y][x + 1] && rows[y][x] === rows[y + 1][x] && rows[y][x] === rows[y + 1][x + 1]) cost += 3
    }
  }
  const share = rows.flat().filter(Boolean).length / rows.length ** 2
  return cost + Math.floor(Math.abs(share * 100 - 50) / 5) * 10
}
