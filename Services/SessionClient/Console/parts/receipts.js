/** Tells the server which notifications about alarms this page showed, and when: operators see who was reached. */
import { model } from '../core/model.js'
import { command } from '../core/actions.js'
import { now } from '../core/time.js'
import { isCritical } from '../core/words.js'
import { isOver } from '../state/alarms.js'
import { isUnread } from '../state/notifications.js'

const shown = new Set()

/** Called after each rendering: an alarm that is on stands above every page, all of them on the pages that list notifications. */
export function showReceipts() {
  if (document.hidden || !model.replica) return
  const isListed = ['/', '/notifications'].includes(model.route.path)
  const isShown = (one) => isListed || (one.kind.startsWith('dependent') && !isOver(one, model.replica))
  const ids = (model.replica.notifications?.notifications ?? [])
    .filter((one) => isUnread(one) && isCritical(one.kind) && !shown.has(one.id) && isShown(one)).map((one) => one.id)
  if (!ids.length) return
  ids.forEach((id) => shown.add(id))
  command('ShowNotifications', { ids, shown: now() }).catch(() => {})
}
