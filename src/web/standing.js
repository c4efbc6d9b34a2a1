import { showUnknown } from './board.js';
import { NoAnswer, Refused } from './daemon.js';
import { words } from './words.js';

/**
 * The line at the top shows the daemon's verdict unchanged, or why there is none; the page makes no verdict of its own. A verdict older than
 * `STALE_MS` is withdrawn, also after the page or the machine was suspended.
 */
const STALE_MS = 10_000;

/** When the newest verdict was requested, on two clocks: one can jump, the other may stop while the machine sleeps. */
let asked;
let isShown = false;

export function now() {
  return { wall: Date.now(), steady: performance.now() };
}

export function showVerdict({ summary, all_clear: isClear, needs, store }, askedAt) {
  asked = askedAt;
  if (typeof summary !== 'string') return showFailure(new NoAnswer('unreadable'));
  isShown = true;
  document.title = isClear === true ? 'Baton' : `(${needs}) Baton`;
  say(summary, isClear === true ? 'calm' : 'call');
  if (store?.away_since === undefined) showAge('As of');
  else showText(`As of ${timeOf(store.away_since)}: the database is away since then`);
  checkAge();
}

export function showFailure(error) {
  isShown = false;
  document.title = '(?) Baton';
  showUnknown();
  say(describe(error), 'away');
  showAge('Last answer:');
}

/** Withdraws an old verdict. */
export function checkAge() {
  if (isShown && ageMs() > STALE_MS) showFailure(new NoAnswer('hung'));
}

export function say(text, how) {
  const standing = document.getElementById('standing');
  standing.replaceChildren(words(text));
  standing.className = how;
  document.getElementById('board').classList.toggle('away', how === 'away');
}

function describe(error) {
  if (error instanceof Refused) return `There is no status: ${error.message}. ${error.hint}`.trim();
  if (!(error instanceof NoAnswer)) return `There is no status: ${error.message}`;
  return {
    hung: 'The daemon does not answer. This data may be old. See: baton status',
    away: 'The daemon cannot be reached. This data may be old. Start it: baton up',
    unreadable: 'The answer of the daemon is unreadable. This data may be old. See: baton status',
  }[error.how];
}

function ageMs() {
  const { wall, steady } = now();
  return Math.max(wall - asked.wall, steady - asked.steady);
}

function showAge(what) {
  showText(asked === undefined ? '' : `${what} ${timeOf(asked.wall)}`);
}

function showText(text) {
  document.getElementById('age').textContent = text;
}

function timeOf(at) {
  return new Date(at).toLocaleTimeString();
}

setInterval(checkAge, 1000);
for (const event of ['visibilitychange', 'pageshow', 'focus']) addEventListener(event, checkAge, true);
