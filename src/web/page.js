import { answersTo } from './answers.js';
import { showBoard, showEntries } from './board.js';
import { Refused, talkTo } from './daemon.js';
import { now, say, showFailure, showVerdict } from './standing.js';
import { words } from './words.js';

const known = new URLSearchParams(location.hash.slice(1));
const token = known.get('token') ?? sessionStorage.getItem('token') ?? '';
const project = known.get('project') ?? sessionStorage.getItem('project') ?? '';
const daemon = talkTo(token, project);
const answers = answersTo(daemon, () => {
  // Does not wait for the daemon.
  if (seen !== undefined) showBoard(seen, answers);
  void refresh();
});
/** The data on the board. */
let seen;

const REFRESH_MS = 3000;

function open() {
  sessionStorage.setItem('token', token);
  sessionStorage.setItem('project', project);
  // The address must not show the token.
  history.replaceState(null, '', `#${new URLSearchParams({ project })}`);
  element('place').replaceChildren(words(project));
  element('board').hidden = false;
  void refresh();
  void follow();
  setInterval(refresh, REFRESH_MS);
  document.addEventListener('visibilitychange', () => void refresh());
}

/** Asks for a token if there is none, or if the daemon refuses it. */
function openLogin(why) {
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

let isClosed = false;
let isAsking = false;
let isAskedAgain = false;
/** Runs once at a time; a request meanwhile causes one more run. The verdict is shown only if every call succeeds. */
async function refresh() {
  isAskedAgain = isAsking;
  if (isAsking || isClosed) return;
  isAsking = true;
  const askedAt = now();
  try {
    seen = await readBoard();
    showBoard(seen, answers);
    showVerdict(seen.status, askedAt);
  } catch (error) {
    fail(error);
  } finally {
    isAsking = false;
  }
  if (isAskedAgain) setTimeout(refresh, 100);
}

const MOST_TASKS = 100;
const MOST_WORKFLOWS = 20;
const MOST_DONE = 20;
const DAYS = 7;

async function readBoard() {
  const list = async (input) => (await daemon.call('task_list', { limit: MOST_TASKS, ...input })).tasks;
  const status = await daemon.call('status_get');
  const total = Object.values(status.tasks).reduce((sum, count) => sum + count, 0);
  const [blocked, busy, next, cancelled, newest, costs] = await Promise.all([
    list({ status: 'blocked' }),
    list({ status: 'in_progress' }),
    list({ status: 'todo' }),
    list({ status: 'cancelled' }),
    list({ after_n: Math.max(0, total - MOST_DONE) }),
    daemon.call('costs_get', { by: 'day' }),
  ]);
  const done = newest.filter((task) => task.status === 'done').toReversed();
  const shown = [...busy, ...blocked, ...done].slice(0, MOST_WORKFLOWS);
  const workflows = await Promise.all(shown.map(async ({ id }) => daemon.call('workflow_get', { task_id: id })));
  const byTask = new Map(workflows.map((each) => [each.task_id, each]));
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

const MOST_ENTRIES = 30;
const entries = [];

async function follow() {
  let after;
  while (!isClosed) {
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
      if (isRefusedAccess(error)) fail(error);
    }
    // The stream ended: the next call shows whether the daemon runs.
    void refresh();
    await new Promise((resume) => setTimeout(resume, 1000));
  }
}

const ACCESS_CODES = new Set(['no-token', 'bad-token', 'no-such-project', 'forbidden']);

function isRefusedAccess(error) {
  return error instanceof Refused && ACCESS_CODES.has(error.code);
}

function fail(error) {
  if (isRefusedAccess(error)) {
    isClosed = true;
    openLogin(`The daemon refused access: ${error.message}.`);
  } else if (!isClosed) showFailure(error);
}

function element(id) {
  return document.getElementById(id);
}

// A new hash alone does not reload the page.
addEventListener('hashchange', () => location.reload());
if (token === '' || project === '') openLogin('A token is needed.');
else open();
