/** What there is to listen to: a catalogue for trying things out. Nothing sounds; what is shared is what plays, and where. */
import { t } from '../core/language.js'
import { second } from '../core/time.js'

const track = (content, title, by, minutes, seconds) => ({ content, title, by, duration: (minutes * 60 + seconds) * second })

export const catalogue = [
  {
    title: () => t`For the morning`,
    tracks: [
      track('grieg-morning', 'Morning Mood', 'Edvard Grieg', 3, 52),
      track('vivaldi-spring', 'Spring: Allegro', 'Antonio Vivaldi', 3, 29),
      track('haydn-sunrise', 'Sunrise Quartet: Allegro', 'Joseph Haydn', 8, 12),
      track('mendelssohn-spring', 'Spring Song', 'Felix Mendelssohn', 2, 14),
    ],
  },
  {
    title: () => t`Quartets`,
    tracks: [
      track('mozart-dissonance', 'Dissonance Quartet: Adagio', 'Wolfgang Amadeus Mozart', 7, 48),
      track('schubert-maiden', 'Death and the Maiden: Andante', 'Franz Schubert', 14, 5),
      track('borodin-notturno', 'Notturno', 'Alexander Borodin', 8, 21),
      track('dvorak-american', 'American Quartet: Lento', 'Antonín Dvořák', 7, 33),
      track('ravel-vif', 'Quartet in F: Assez vif', 'Maurice Ravel', 6, 18),
    ],
  },
  {
    title: () => t`For the evening`,
    tracks: [
      track('debussy-clair', 'Clair de lune', 'Claude Debussy', 5, 1),
      track('chopin-nocturne', 'Nocturne in E-flat', 'Frédéric Chopin', 4, 30),
      track('schumann-traeumerei', 'Träumerei', 'Robert Schumann', 2, 47),
      track('satie-gymnopedie', 'Gymnopédie No. 1', 'Erik Satie', 3, 5),
      track('brahms-lullaby', 'Lullaby', 'Johannes Brahms', 1, 56),
    ],
  },
]

const plain = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLocaleLowerCase()

/** What a text finds, in titles and names: accents and capitals don't matter. */
export function find(text) {
  const words = plain(text).split(/\s+/).filter(Boolean)
  return catalogue.flatMap(({ tracks }) => tracks)
    .filter(({ title, by }) => words.every((word) => plain(`${title} ${by}`).includes(word)))
}

export const trackOf = (content) => catalogue.flatMap(({ tracks }) => tracks).find((one) => one.content === content)
