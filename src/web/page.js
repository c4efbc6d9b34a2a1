import { answersTo } from './answers.js';
import { showBoard, showEntries } from './board.js';
import { Refused, talkTo } from './daemon.js';
import { now, say, showFailure, showVerdict } from './standing.js';
import { NO_SANDBOX, words } from './words.js';

/** The page: what needs a person, what is running and at which stage, and the newest entries, as the daemon reports them. */
const known = new URLSearchParams(location.hash.slice(1));
const token = known.get('token') ?? sessionStorage.getItem('token') ?? '';
const project = known.get('project') ?? sessionStorage.getItem('project') ?? '';
const daemon = talkTo(token, project);
const answers = answersTo(daemon, () => {
  // Shown at once, even if the daemon does not answer.
  if (seen !== undefined) showBoard(seen, answers);
  void refresh();
});
/** What the board shows. */
let seen;

const REFRESH_MS = 3000;

function open() {
  sessionStorage.setItem('token', token);
  sessionStorage.setItem('project', project);
  // Removes the token from the address bar, so that it is not seen or copied.
  history.replaceState(null, '', `#${new URLSearchParams({ project })}`);
  element('place').replaceChildren(words(project));
  element('board').hidden = false;
  void refresh();
  void follow();
  setInterval(() => void refresh(), REFRESH_MS);
  // A page that becomes visible again refreshes its data.
  document.addEventListener('visibilitychange', () => void refresh());
}

/** Shows the sign-in form if the token is missing or the daemon refuses it. */
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
/** Runs one refresh at a time and repeats it if it was requested meanwhile. The verdict is shown only if every call succeeded. */
async function refresh() {
  isAskedAgain = isAsking;
  if (isAsking || isShut) return;
  isAsking = true;
  const askedAt = now();
  try {
    seen = await look();
    showBoard(seen, answers);
    showVerdict(seen.status, askedAt);
  } catch (error) {
    fail(error);
  } finally {
    isAsking = false;
  }
  if (isAskedAgain) setTimeout(() => void refresh(), 100);
}

const MOST_TASKS = 100;
const MOST_WORKFLOWS = 20;
const LATELY = 20;
const DAYS = 7;

async function look() {
  const list = async (input) => (await daemon.call('task_list', { limit: MOST_TASKS, ...input })).tasks;
  const status = await daemon.call('status_get');
  const total = Object.values(status.tasks).reduce((sum, count) => sum + count, 0);
  const [blocked, busy, next, cancelled, newest, costs] = await Promise.all([
    list({ status: 'blocked' }),
    list({ status: 'in_progress' }),
    list({ status: 'todo' }),
    list({ status: 'cancelled' }),
    list({ after_n: Math.max(0, total - LATELY) }),
    daemon.call('costs_get', { by: 'day' }),
  ]);
  const done = newest.filter((task) => task.status === 'done').toReversed();
  const shown = [...busy, ...blocked, ...done].slice(0, MOST_WORKFLOWS);
  const views = await Promise.all(shown.map(async ({ id }) => daemon.call('task_view', { task_id: id })));
  const byTask = new Map(views.map((view) => [view.id, briefOf(view)]));
  return {
    status,
    work: busy,
    blocked,
    next,
    done,
    cancelled: cancelled.toReversed(),
    workflows: byTask,
    costs: costs.rows.slice(-DAYS).toReversed(),
  };
}

/** Without times, which change with every answer: the board is redrawn only if something has changed. */
function briefOf({ mode, merge_sha, stages, sessions }) {
  return {
    mode,
    merge_sha,
    isOpen: sessions.some(({ sandbox }) => sandbox === NO_SANDBOX),
    stages: stages.map(({ name, status, activity, visits }) => ({ name, status, activity, visits })),
  };
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
    } catch (error) {
      if (isNoEntry(error)) fail(error);
    }
    // The stream broke: the next call shows whether the daemon is running.
    void refresh();
    await new Promise((resume) => setTimeout(resume, 1000));
  }
}

const NO_ENTRY = new Set(['no-token', 'bad-token', 'no-such-project', 'forbidden']);

function isNoEntry(error) {
  return error instanceof Refused && NO_ENTRY.has(error.code);
}

function fail(error) {
  if (isNoEntry(error)) {
    isShut = true;
    openDoor(`The daemon refused the token: ${error.message}.`);
  } else if (!isShut) showFailure(error);
}

function element(id) {
  return document.getElementById(id);
}

// A change of the address fragment alone does not reload the page.
addEventListener('hashchange', () => location.reload());
if (token === '' || project === '') openDoor('Sign in to see this project.');
else open();
