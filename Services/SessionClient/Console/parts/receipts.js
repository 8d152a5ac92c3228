/** Tells the server which notifications about alarms this page showed, and when: operators see who was reached. */
import { model } from '../core/model.js'
import { command } from '../core/actions.js'
import { now } from '../core/time.js'
import { isCritical } from '../core/words.js'
import { isUnread } from '../state/notifications.js'

const shown = new Set()

/** Called after each rendering: the pages that list notifications are the ones that show them. */
export function showReceipts() {
  if (document.hidden || !['/', '/notifications'].includes(model.route.path)) return
  const ids = (model.replica?.notifications?.notifications ?? [])
    .filter((one) => isUnread(one) && isCritical(one.kind) && !shown.has(one.id)).map((one) => one.id)
  if (!ids.length) return
  ids.forEach((id) => shown.add(id))
  command('ShowNotifications', { ids, shown: now() }).catch(() => {})
}
