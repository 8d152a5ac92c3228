/**
 * A small virtual DOM. Pages are functions that describe what should be there; `render` changes the document where it
 * differs. Elements that stay keep their focus, selection and scroll position.
 *
 *     render(document.body, h('p', { class: 'hint' }, 'Hello'))
 *
 * Texts only ever become text nodes, so nothing that a person typed is read as markup.
 */
import { language } from './language.js'

const SVG = 'http://www.w3.org/2000/svg'

/**
 * Describes an element.
 * @param {object} [props] attributes; `on…` for listeners; `key` to recognise it among its siblings; `mount(element)`,
 *   called once it is in the document, which may return a function that is called when it is removed.
 */
export function h(tag, props, ...children) {
  return { tag, props: props ?? {}, key: props?.key, children: children.flat(Infinity).filter(isShown).map(asNode) }
}

/**
 * Describes an element whose inside stays as it is until one of `facts`, or the language, is another one: `inside()` isn't even called.
 *
 *     steady('ul', {}, [tracks], () => tracks.map(row))
 */
export const steady = (tag, props, facts, inside) => ({ tag, props, key: props.key, facts: [language(), ...facts], inside })

/** What is inside of a node; `old` is what it was before. */
function childrenOf(node, old) {
  if (node.facts && old?.facts?.length === node.facts.length && node.facts.every((fact, place) => fact === old.facts[place])) {
    return old.children
  }
  return node.inside ? [node.inside()].flat(Infinity).filter(isShown).map(asNode) : node.children
}

const isShown = (child) => child !== null && child !== undefined && child !== false && child !== true
const asNode = (child) => (typeof child === 'object' ? child : { text: String(child) })

const mounted = []

/** Makes the element's children what `nodes` describe. */
export function render(element, ...nodes) {
  const focused = document.activeElement
  const next = nodes.flat(Infinity).filter(isShown).map(asNode)
  patchChildren(element, element.described ?? [], next)
  element.described = next
  // An element that moved among its siblings has lost the focus.
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true })
  for (const call of mounted.splice(0)) call()
}

function create(node, space) {
  if (node.text !== undefined) return (node.dom = document.createTextNode(node.text))
  const inside = node.tag === 'svg' ? SVG : space
  const dom = inside ? document.createElementNS(inside, node.tag) : document.createElement(node.tag)
  node.dom = dom
  node.children = childrenOf(node)
  for (const child of node.children) dom.append(create(child, inside))
  // After the children: the value of a select is one of its options.
  for (const name in node.props) set(dom, name, undefined, node.props[name])
  if (node.props.mount) mounted.push(() => { node.cleanup = node.props.mount(dom) })
  return dom
}

const isSame = (old, node) =>
  old.key === node.key && old.tag === node.tag && (old.text === undefined) === (node.text === undefined)

function patch(old, node) {
  node.dom = old.dom
  if (node.text !== undefined) {
    if (node.text !== old.text) node.dom.data = node.text
  } else {
    node.cleanup = old.cleanup
    node.children = childrenOf(node, old)
    if (node.children !== old.children) patchChildren(node.dom, old.children, node.children)
    for (const name in old.props) if (!(name in node.props)) set(node.dom, name, old.props[name], undefined)
    for (const name in node.props) set(node.dom, name, old.props[name], node.props[name])
  }
  return node.dom
}

function patchChildren(dom, before, after) {
  const keyed = new Map()
  const unkeyed = []
  for (const old of before) old.key === undefined ? unkeyed.push(old) : keyed.set(old.key, old)
  const matches = after.map((node) => {
    const place = node.key === undefined ? unkeyed.findIndex((old) => isSame(old, node)) : -1
    const old = place >= 0 ? unkeyed.splice(place, 1)[0] : keyed.get(node.key)
    if (!old || !isSame(old, node)) return undefined
    keyed.delete(node.key)
    return old
  })
  for (const old of [...keyed.values(), ...unkeyed]) {
    forget(old)
    old.dom.remove()
  }
  const space = dom.namespaceURI === SVG ? SVG : undefined
  let place = dom.firstChild
  after.forEach((node, index) => {
    const child = matches[index] ? patch(matches[index], node) : create(node, space)
    if (child === place) place = place.nextSibling
    else if (child.parentNode !== dom || child.nextSibling !== place) dom.insertBefore(child, place)
  })
}

function forget(node) {
  node.cleanup?.()
  node.children?.forEach(forget)
}

function set(dom, name, old, value) {
  if (name === 'key' || name === 'mount') return
  // As attributes these would only be the initial value.
  if (name === 'value' || name === 'checked') {
    if (dom[name] !== value && value !== undefined) dom[name] = value
  } else if (old === value) {
    return
  } else if (name.startsWith('on')) {
    listen(dom, name.slice(2), value)
  } else if (name === 'style') {
    for (const property in old) if (!(property in (value ?? {}))) dom.style.removeProperty(property)
    for (const property in value) if (old?.[property] !== value[property]) dom.style.setProperty(property, value[property])
  } else if (value === undefined || value === null || value === false) {
    dom.removeAttribute(name)
  } else {
    dom.setAttribute(name, value === true ? '' : value)
  }
}

/** One listener per element and event, which calls the handler of the last rendering. */
function listen(dom, type, handler) {
  dom.handlers ??= { handleEvent(event) { this[event.type]?.(event) } }
  if (!(type in dom.handlers)) dom.addEventListener(type, dom.handlers)
  dom.handlers[type] = handler
}
