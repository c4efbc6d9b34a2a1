import { showBoard, showEntries, showUnknown } from './board.js';
import { Refused, talkTo } from './daemon.js';

/**
 * The page: what needs a person, what is at work and where it stands, and the newest entries, as the daemon tells them. Where the daemon
 * does not answer, the page says so: no news must not pass for good news.
 */
const known = new URLSearchParams(location.hash.slice(1));
const token = known.get('token') ?? sessionStorage.getItem('token') ?? '';
const project = known.get('project') ?? sessionStorage.getItem('project') ?? '';
const daemon = talkTo(token, project);

function open() {
  sessionStorage.setItem('token', token);
  sessionStorage.setItem('project', project);
  // Whoever looks over a shoulder, or copies the address, does not get the token.
  history.replaceState(null, '', `#${new URLSearchParams({ project })}`);
  element('place').textContent = project;
  element('board').hidden = false;
  void refresh();
  void follow();
  setInterval(refresh, 5000);
}

/** A form for whoever came without a token, or with one that the daemon does not know. */
function openDoor(why) {
  sessionStorage.removeItem('token');
  say(why, 'away');
  element('board').hidden = true;
  const door = element('door');
  door.hidden = false;
  door.elements.project.value = project;
  door.addEventListener('submit', (event) => {
    event.preventDefault();
    sessionStorage.setItem('token', door.elements.token.value.trim());
    sessionStorage.setItem('project', door.elements.project.value.trim());
    history.replaceState(null, '', location.pathname);
    location.reload();
  });
}

let isShut = false;
let isAsking = false;
let isAskedAgain = false;
/** One at a time; what happens meanwhile is asked for afterwards. */
async function refresh() {
  isAskedAgain = isAsking;
  if (isAsking || isShut) return;
  isAsking = true;
  try {
    const seen = await look();
    showBoard(seen, resolve);
    sayStanding(seen.status);
  } catch (error) {
    fail(error);
  } finally {
    isAsking = false;
  }
  if (isAskedAgain) setTimeout(refresh, 100);
}

const MOST_TASKS = 100;
const MOST_WORKFLOWS = 20;
const LATELY = 20;
const DAYS = 7;

async function look() {
  const list = async (input) => (await daemon.call('task_list', { limit: MOST_TASKS, ...input })).tasks;
  const status = await daemon.call('status_get');
  const total = Object.values(status.tasks).reduce((sum, count) => sum + count, 0);
  const [blocked, busy, next, newest, costs] = await Promise.all([
    list({ status: 'blocked' }),
    list({ status: 'in_progress' }),
    list({ status: 'todo' }),
    list({ after_n: Math.max(0, total - LATELY) }),
    daemon.call('costs_get', { by: 'day' }),
  ]);
  const done = newest.filter((task) => task.status === 'done').toReversed();
  const shown = [...busy, ...blocked, ...done].slice(0, MOST_WORKFLOWS);
  const workflows = await Promise.all(shown.map(async ({ id }) => daemon.call('workflow_get', { task_id: id })));
  const byTask = new Map(workflows.map((each) => [each.task_id, each]));
  return { status, work: busy, blocked, next, done, workflows: byTask, costs: costs.rows.slice(-DAYS).toReversed() };
}

function sayStanding({ needs_you: needs, attention, agents }) {
  const runs = agents.filter(({ outcome }) => outcome === null).length;
  const count = (kind) => attention.filter((each) => each.kind === kind).reduce((sum, each) => sum + each.count, 0);
  const all = needs.length + attention.reduce((sum, each) => sum + each.count, 0);
  // As `baton status` says it.
  const words = [
    counted(needs.length, 'decision'),
    counted(count('runbook'), 'broken runbook'),
    counted(count('blocked'), 'blocked task'),
    counted(count('cancelled'), 'cancelled task'),
    counted(count('unserved'), 'waiting task'),
    counted(count('main'), 'main branch'),
  ].filter((each) => each !== '');
  const asked = all === 0 ? 'Nothing needs you' : `${words.join(', ')} ${all === 1 ? 'needs' : 'need'} you`;
  document.title = all === 0 ? 'Baton' : `(${all}) Baton`;
  say(`${asked}, ${runs} at work.`, all === 0 ? 'calm' : 'call');
}

function counted(count, noun) {
  return count === 0 ? '' : `${count} ${noun}${count === 1 ? '' : 's'}`;
}

async function resolve(id, option) {
  try {
    await daemon.call('decision_resolve', { id, option });
    await refresh();
  } catch (error) {
    fail(error);
  }
}

const MOST_ENTRIES = 30;
const entries = [];

async function follow() {
  let after;
  while (!isShut) {
    try {
      after ??= Math.max(0, (await daemon.call('status_get')).seq - MOST_ENTRIES);
      for await (const news of daemon.events(after)) {
        after = news.at(-1)?.seq ?? after;
        entries.unshift(...news.toReversed());
        entries.length = Math.min(entries.length, MOST_ENTRIES);
        showEntries(entries);
        void refresh();
      }
      throw new Error('it has closed the connection');
    } catch (error) {
      fail(error);
    }
    await new Promise((resume) => setTimeout(resume, 1000));
  }
}

const NO_ENTRY = new Set(['no-token', 'bad-token', 'no-such-project', 'forbidden']);

function fail(error) {
  if (error instanceof Refused && NO_ENTRY.has(error.code)) {
    isShut = true;
    openDoor(`The daemon does not let you in: ${error.message}.`);
  } else if (error instanceof Refused) say(`The daemon says no: ${error.message}`, 'call');
  else {
    showUnknown();
    const why = error instanceof TypeError ? 'it does not answer' : error.message;
    say(`The daemon is away (${why}). What you see may be old. Start it: baton up`, 'away');
  }
}

function say(text, how) {
  const standing = element('standing');
  standing.textContent = text;
  standing.className = how;
  element('board').classList.toggle('away', how === 'away');
}

function element(id) {
  return document.getElementById(id);
}

// Another address of the same page loads nothing by itself.
addEventListener('hashchange', () => location.reload());
if (token === '' || project === '') openDoor('Who are you?');
else open();
