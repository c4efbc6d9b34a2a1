import { NO_SANDBOX, part, words } from './words.js';

/** Renders the daemon's answers into the page. */
export function showBoard({ status, work, blocked, next, done, cancelled, workflows, costs }, answers) {
  const decisions = status.needs_you.map((each) => ({ ...each, isUnderWay: answers.isUnderWay(each.id) }));
  const hadButtons = document.querySelector('#needs button') !== null;
  const hasChanged = fill('needs', [...decisions, ...status.attention], (each) =>
    each.options === undefined ? attentionItem(each) : decisionItem(each, answers),
  );
  if (hadButtons && hasChanged) answers.moved();
  fill('work', work, (task) => taskItem(task, workflows.get(task.id)), workflows);
  fill('blocked', blocked, (task) => taskItem(task, workflows.get(task.id)), workflows);
  fill('next', next, (task) => taskItem(task));
  fill('done', done, (task) => taskItem(task, workflows.get(task.id)), workflows);
  fill('cancelled', cancelled, (task) => taskItem(task));
  showCounts(status.tasks);
  fill('agents', status.agents, agentItem);
  fill('pipelines', status.pipelines, ({ name, status: how, host, steps = [] }) =>
    item(
      [name, host === undefined ? how : `${how} on ${host}`],
      steps.map((step) => `${step.name}: ${step.status}`).join(', '),
    ),
  );
  fill('costs', costs, costItem);
  showFleet(status.fleet);
}

/** A project on one machine has no fleet. */
function showFleet(fleet) {
  document.getElementById('fleet-section').hidden = fleet === undefined;
  if (fleet === undefined) return;
  const { url, away_since: since } = fleet.store;
  const answers = since === null ? 'answers' : `has not answered since ${since}`;
  document.getElementById('store').replaceChildren(words(`${url} ${answers}`));
  fill('fleet', fleet.hosts, ({ name, summary, here }) => item([name, summary], here ? 'this host' : ''));
}

/** The tasks by status, in the words of `baton status`. */
function showCounts(tasks) {
  const some = Object.entries(tasks).filter(([, count]) => count > 0);
  const counts = some.map(([status, count]) => `${count} ${status}`).join(', ');
  document.getElementById('counts').replaceChildren(...(counts === '' ? [] : [words(`tasks ${counts}`)]));
}

export function showEntries(entries) {
  fill('entries', entries, ({ seq, at, actor, type, data }) =>
    item([type], `${data.task_id ?? ''} ${short(actor)} ${at.slice(11, 19)} #${seq}`.trim()),
  );
}

/** Marks empty lists as unknown: without an answer they prove nothing. */
export function showUnknown() {
  for (const list of document.querySelectorAll('#board ul')) {
    if (list.querySelector('.none') === null) continue;
    list.replaceChildren(none('not known without an answer'));
    shown.delete(list.id);
  }
}

function taskItem({ id, title, phase, claim, next_role: role, blocked_because: because }, workflow) {
  const line = document.createElement('li');
  line.dataset.task = id;
  const who = claim !== null ? `${claim.role ?? 'claimed'}: ${claim.holder}` : role === null ? '' : `next: ${role}`;
  line.append(part('b', id), ' ', words(title), ' ', part('span', phase, 'phase'), ' ', part('span', who, 'dim'));
  if (because !== null) line.append(part('p', because, 'call'));
  if (workflow?.isOpen) line.append(' ', openBadge());
  if (workflow?.mode) line.append(stageList(workflow));
  if (workflow?.merge_sha) line.append(' ', part('span', `merged as ${workflow.merge_sha.slice(0, 12)}`, 'dim'));
  return line;
}

function agentItem({ name, status, host, task_id: task, sandbox }) {
  const line = item([name, status], [task ?? '', host === undefined ? '' : `on ${host}`].join(' ').trim());
  if (sandbox?.kind === 'none') line.append(' ', openBadge());
  else if (sandbox) line.append(' ', part('span', sandbox.summary, 'dim'));
  return line;
}

/** A session that could read and write what the user can. */
function openBadge() {
  return part('span', NO_SANDBOX, 'badge');
}

function stageList({ stages }) {
  const list = document.createElement('ol');
  list.className = 'stages';
  for (const { name, status, activity, visits } of stages) {
    const sign = activity === 'waiting' ? '!' : SIGNS[status];
    const stage = part('li', `${sign} ${name}${visits > 1 ? ` ×${visits}` : ''}`, status);
    if (status === 'now') stage.setAttribute('aria-current', 'step');
    list.append(stage);
  }
  return list;
}

const SIGNS = { now: '●', done: '✓', failed: '✗', ahead: '·' };

function decisionItem(decision, answers) {
  const line = item([decision.title], '');
  const buttons = decision.options.map(({ n, label, recommended }) => {
    const button = part('button', `${n} ${label}`, recommended ? 'recommended' : '');
    button.disabled = decision.isUnderWay;
    button.addEventListener('click', () => void answers.answer(decision, n));
    return button;
  });
  line.append(part('pre', decision.context), ...buttons);
  return line;
}

/** An item without buttons: why it waits, and the command to type. */
function attentionItem({ title, context, next }) {
  const line = item([title], '');
  if (context !== '') line.append(part('pre', context));
  line.append(part('code', next));
  return line;
}

/** A cost with a + is a lower bound: some tokens have no price. */
function costItem({ name, input_tokens, output_tokens, cached_tokens, cost_millicents, unpriced_tokens, budget }) {
  const tokens = (input_tokens + output_tokens + cached_tokens).toLocaleString('en');
  const cost = `$${(cost_millicents / 100_000).toFixed(2)}${unpriced_tokens > 0 ? '+' : ''}`;
  return item([name, cost], `${tokens} tokens${budget === null ? '' : `, ${budget.percent} % of the budget`}`);
}

/** Shortens `session:ID` for display. */
function short(actor) {
  return actor.replace(/(?<=:[0-9a-f]{8})-[0-9a-f-]{27}$/, '');
}

/** The current content of each list, as JSON. */
const shown = new Map();

/** Fills a list unless its content is unchanged: a button must not be replaced under the pointer. Returns whether it has changed. */
function fill(id, list, make, also = new Map()) {
  const content = JSON.stringify([list, list.map((each) => also.get(each.id) ?? null)]);
  if (shown.get(id) === content) return false;
  shown.set(id, content);
  document.getElementById(id).replaceChildren(...(list.length === 0 ? [none('none')] : list.map(make)));
  return true;
}

function none(text) {
  return part('li', text, 'none dim');
}

function item([main, ...others], more) {
  const line = document.createElement('li');
  line.append(part('b', main));
  for (const other of others) line.append(' ', words(other));
  if (more !== '') line.append(' ', part('span', more, 'dim'));
  return line;
}
