/** Tells the server which notifications about alarms this page showed, and when: operators see who was reached. */
import { model } from '../core/model.js'
import { command } from '../core/actions.js'
import { now } from '../core/time.js'
import { isCritical } from '../core/words.js'
import { isOver } from '../state/alarms.js'
import { isUnread } from '../state/notifications.js'

const shown = new Set()

/**
 * Called after each rendering. What was drawn says so in the attribute `data-shows`: a notification its id, somebody's alarm that is on
 * its kind and whose it is, one's own its kind.
 */
export function showReceipts() {
  if (document.hidden || !model.replica || model.isKept) return
  const isOpen = (one) => isUnread(one) && isCritical(one.kind) && !shown.has(one.id)
  const open = (model.replica.notifications?.notifications ?? []).filter(isOpen)
  if (!open.length) return
  const drawn = new Set([...document.querySelectorAll('[data-shows]')].map((element) => element.dataset.shows))
  const alarm = ({ kind, subject }) => (kind.startsWith('dependent') ? `${kind}/${subject}` : kind)
  const ids = open.filter((one) => drawn.has(one.id) || (!isOver(one, model.replica) && drawn.has(alarm(one)))).map((one) => one.id)
  if (!ids.length) return
  ids.forEach((id) => shown.add(id))
  command('ShowNotifications', { ids, shown: now() }).catch(() => {})
}
