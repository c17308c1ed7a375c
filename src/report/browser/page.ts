// The script of the report and the status page. Draws the task sections anew for the host and period that were chosen, says
// at once what a mark stands for, and on the status page puts a new copy in place of the old one. Bundled into one file.
import type { TaskFigures } from '../../mirror/shown/figures.ts'
import { grouped } from '../../shown.ts'
import { binName, hostName, type Slice, taskSections, tasksIn, wholeSlice } from '../task-sections.ts'

const REFRESH_EVERY_MS = 15_000

const byId = <T extends HTMLElement = HTMLElement>(id: string): T | null => document.getElementById(id) as T | null

/** What the reader chose, by what it is called: a page that comes later may have other places for it. */
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
      // What is not chosen moves on with the page.
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

/** Which tables are open, by their names. */
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

/** Tooltips at once, and by touch as well: the browser's own come late, and not at all there. */
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
      // Where this one shows, the browser's own would stand above it.
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
    // A finger leaves as soon as it is lifted: what it touched stays told until it touches elsewhere.
    if (event.pointerType === 'mouse') hide()
  })
  document.addEventListener('scroll', hide, { passive: true, capture: true })
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide()
  })
}

/** Puts a new copy of the page in place of the old one, as long as the box is ticked. What was opened or chosen stays so. */
async function refresh(): Promise<void> {
  const content = byId('content')
  if (content === null || byId<HTMLInputElement>('refresh')?.checked !== true || document.hidden) return
  // A choice that is open would be closed under the reader's hand.
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
