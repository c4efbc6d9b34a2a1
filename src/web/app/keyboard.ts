import { closeOverlay, openHelp, openPalette, overlay } from './overlay.ts';
import { parseRoute } from './route.ts';
import { go, hrefTo, type ViewName } from './router.ts';

export const VIEW_KEYS: Readonly<Record<string, ViewName>> = {
  i: 'inbox',
  w: 'work',
  t: 'tasks',
  f: 'fleet',
  l: 'ledger',
};

/** The second key of `g i` must come within this time. */
const SEQUENCE_MS = 1500;
let pressedGAt = -Infinity;

export function listenForKeys(): void {
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      openPalette();
    } else if (event.key === 'Escape') leave(event);
    else if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) press(event);
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}

function press(event: KeyboardEvent): void {
  const isSecond = performance.now() - pressedGAt < SEQUENCE_MS;
  pressedGAt = -Infinity;
  const view = isSecond ? VIEW_KEYS[event.key] : undefined;
  if (view !== undefined) go({ view });
  else if (event.key === 'g') pressedGAt = performance.now();
  else if (event.key === 'j' || event.key === 'k') moveFocus(event.key === 'j' ? 1 : -1);
  else if (event.key === '?') openHelp();
  else if (event.key === '/') focusFilter();
  else return;
  event.preventDefault();
}

/** Closes the topmost element: an overlay, then a field, then the detail. */
function leave(event: KeyboardEvent): void {
  if (overlay.peek() !== undefined) closeOverlay();
  else if (isTyping(event.target) && event.target instanceof HTMLElement) event.target.blur();
  else if (parseRoute(location.hash).id !== undefined) {
    // Reads the address, which is briefly ahead of the view after a click.
    const { view, query } = parseRoute(location.hash);
    location.hash = hrefTo(view === 'session' ? { view: 'work' } : { view, query });
  } else return;
  event.preventDefault();
}

function moveFocus(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('.view [data-row] a[href]:first-of-type')];
  const focused = rows.findIndex((row) => row === document.activeElement);
  const now = focused === -1 ? rows.findIndex((row) => row.getAttribute('aria-current') === 'true') : focused;
  const next = rows[now === -1 ? (by === 1 ? 0 : rows.length - 1) : now + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function focusFilter(): void {
  document.querySelector<HTMLInputElement>('.view input[type=search]')?.focus();
}
