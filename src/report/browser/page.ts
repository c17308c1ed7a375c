// The script of the report and the status page, bundled into one file. Redraws the task sections for the chosen host
// and period, shows tooltips without delay, and puts new copies of the status page in place of the old one.
import type { TaskFigures } from '../../mirror/shown/figures.ts'
import { grouped } from '../../shown.ts'
import { binName, hostName, type Slice, taskSections, tasksIn, wholeSlice } from '../task-sections.ts'

const REFRESH_EVERY_MS = 15_000

const byId = <T extends HTMLElement = HTMLElement>(id: string): T | null => document.getElementById(id) as T | null

/** The reader's choices by name, not by index: a later copy of the page may list them at other places. */
const chosen: { host: string; from: string; to: string } = { host: '', from: '', to: '' }

function startFilter(): void {
  const filter = byId('filter')
  const json = byId('figures')?.textContent
  if (filter === null || json == null) return
  const figures = JSON.parse(json) as TaskFigures
  filter.hidden = false
  for (const select of filter.querySelectorAll('select')) {
    const name = select.id as keyof typeof chosen
    const wanted = [...select.options].find((option) => option.text === chosen[name])
    if (wanted !== undefined) select.value = wanted.value
    else chosen[name] = ''
    select.addEventListener('change', () => {
      const isFirst = name !== 'to' && select.selectedIndex === 0
      const isLast = name === 'to' && select.selectedIndex === select.options.length - 1
      // The first and the last option mean "no choice", so that they follow when the page is replaced.
      chosen[name] = isFirst || isLast ? '' : (select.selectedOptions[0]?.text ?? '')
      show(figures)
    })
  }
  if (chosen.host + chosen.from + chosen.to !== '') show(figures)
}

function show(figures: TaskFigures): void {
  const place = (id: string) => Number(byId<HTMLSelectElement>(id)?.value)
  const [from, to] = [place('from'), place('to')].sort((a, b) => a - b) as [number, number]
  const isWhole = from === 0 && to === figures.bins - 1
  const slice: Slice = { host: place('host'), from: isWhole ? wholeSlice(figures).from : from, to }
  const shown = byId('tasks-shown')
  if (shown === null) return
  const open = openTables(shown)
  shown.innerHTML = taskSections(figures, slice)
  reopen(shown, open)
  const period = from === to ? binName(figures, from) : `${binName(figures, from)} to ${binName(figures, to)}`
  const host = figures.hosts[slice.host]
  const words = `${grouped(tasksIn(figures, slice))} tasks of ${host === undefined ? '' : hostName(host)}, ${period}`
  const said = byId('chosen')
  if (said !== null) said.textContent = words
}

/** Which tables are open, by their captions. */
function openTables(within: ParentNode): Map<string, boolean> {
  return new Map(
    [...within.querySelectorAll('details')].map((part) => [
      part.querySelector('summary')?.textContent ?? '',
      part.open,
    ]),
  )
}

function reopen(within: ParentNode, open: ReadonlyMap<string, boolean>): void {
  for (const part of within.querySelectorAll('details'))
    part.open = open.get(part.querySelector('summary')?.textContent ?? '') ?? part.open
}

/** Tooltips that show at once, also on touch; the browser's own come late, and never on touch. */
function startTips(): void {
  const tip = byId('tip')
  if (tip === null) return
  const hide = () => {
    tip.hidden = true
  }
  const textOf = (target: EventTarget | null): string | null => {
    if (!(target instanceof Element)) return null
    const row = target.closest<HTMLElement>('.row')
    if (row !== null) {
      // The browser's own tooltip would cover this one.
      if (row.title !== '') {
        row.dataset.tip = row.title
        row.removeAttribute('title')
      }
      return row.dataset.tip ?? null
    }
    const title = target.closest('.mark')?.querySelector('title')
    if (title == null) return null
    if (title.textContent !== '') {
      title.setAttribute('data-tip', title.textContent ?? '')
      title.textContent = ''
    }
    return title.getAttribute('data-tip')
  }
  const move = (event: PointerEvent) => {
    const text = textOf(event.target)
    if (text === null) return hide()
    tip.textContent = text
    tip.hidden = false
    const { width, height } = tip.getBoundingClientRect()
    const left = Math.min(Math.max(4, event.clientX - width / 2), document.documentElement.clientWidth - width - 4)
    const above = event.clientY - height - 14
    tip.style.left = `${left}px`
    tip.style.top = `${above < 4 ? event.clientY + 18 : above}px`
  }
  document.addEventListener('pointermove', move)
  document.addEventListener('pointerdown', move)
  document.addEventListener('pointerleave', (event) => {
    // A finger leaves as soon as it is lifted: the tooltip stays until something else is touched.
    if (event.pointerType === 'mouse') hide()
  })
  document.addEventListener('scroll', hide, { passive: true, capture: true })
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide()
  })
}

/** Replaces the page by a new copy while the box is ticked. What the reader opened or chose stays. */
async function refresh(): Promise<void> {
  const content = byId('content')
  if (content === null || byId<HTMLInputElement>('refresh')?.checked !== true || document.hidden) return
  // Replacing the page would close an open selection under the reader's hand.
  if (document.activeElement instanceof HTMLSelectElement) return
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
    if (!answer.ok) throw new Error(String(answer.status))
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const fresh = next.getElementById('content')
    if (fresh === null) return
    const open = openTables(content)
    content.replaceChildren(...fresh.childNodes)
    startFilter()
    reopen(content, open)
    document.title = next.title
  } catch {
    const state = byId('state')
    if (state !== null) state.textContent = 'The scheduler does not answer; this page is from before.'
  }
}

startFilter()
startTips()
if (byId('refresh') !== null) setInterval(refresh, REFRESH_EVERY_MS)
