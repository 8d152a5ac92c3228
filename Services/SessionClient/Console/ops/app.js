/** Starts the pages for operators. They need an API key, not an account. */
import { render } from '../core/view.js'
import { model, changed, drawWith } from '../core/model.js'
import { addRoute, followLinks, readAddress } from '../core/router.js'
import { notConfigured } from '../pages/not-configured.js'
import { beginDrawing, resume } from './feed.js'
import { loadKey } from './key.js'
import { shell } from './shell.js'
import { overview } from './pages/overview.js'
import { failures } from './pages/failures.js'
import { tail } from './pages/tail.js'
import { stories, story } from './pages/story.js'
import { alarms, told } from './pages/told.js'
import { saga, sagas } from './pages/sagas.js'
import { group, groups } from './pages/groups.js'
import { queries } from './pages/queries.js'

addRoute('/ops', overview)
addRoute('/ops/dead', failures)
addRoute('/ops/tail', tail)
addRoute('/ops/story', stories)
addRoute('/ops/story/{id}', story)
addRoute('/ops/told', alarms)
addRoute('/ops/told/{alarm}', told)
addRoute('/ops/sagas', sagas)
addRoute('/ops/sagas/{id}', saga)
addRoute('/ops/groups', groups)
addRoute('/ops/groups/{group}', group)
addRoute('/ops/sql', queries)

drawWith(() => {
  beginDrawing()
  render(document.body, shell())
  document.title = `${model.route.page ? '' : 'Not found – '}Quartet for operators`
})

async function start() {
  await loadKey()
  followLinks()
  readAddress()
  document.addEventListener('visibilitychange', () => { if (!document.hidden) { resume(); changed() } })
}

// The key is sealed with means that browsers have on https and localhost alone.
if (isSecureContext) start()
else render(document.body, notConfigured())
