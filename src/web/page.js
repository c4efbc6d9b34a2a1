/**
 * The page: what needs a person, tasks, agents, pipelines and the newest entries, as the daemon tells them. Whatever agents wrote is put
 * into the page as text, never as markup. The token stands behind the # of the address and goes nowhere but to the daemon.
 */
const known = new URLSearchParams(location.hash.slice(1));
const token = known.get('token') ?? sessionStorage.getItem('token') ?? '';
const project = known.get('project') ?? sessionStorage.getItem('project') ?? '';
const MOST_ENTRIES = 30;
const entries = [];

if (token === '' || project === '') askForToken();
else {
  sessionStorage.setItem('token', token);
  sessionStorage.setItem('project', project);
  // Whoever looks over a shoulder, or copies the address, does not get the token.
  history.replaceState(null, '', `#${new URLSearchParams({ project })}`);
  element('board').hidden = false;
  void refresh();
  void follow();
  setInterval(refresh, 5000);
}

function askForToken() {
  const door = element('door');
  door.hidden = false;
  door.elements.project.value = project;
  say('Who are you?', true);
  door.addEventListener('submit', (event) => {
    event.preventDefault();
    sessionStorage.setItem('token', door.elements.token.value.trim());
    sessionStorage.setItem('project', door.elements.project.value.trim());
    location.reload();
  });
}

function headers() {
  return { authorization: `Bearer ${token}`, 'baton-project-path': encodeURI(project) };
}

async function call(operation, input = {}) {
  const response = await fetch(`/v1/${operation}`, { method: 'POST', headers: headers(), body: JSON.stringify(input) });
  const answer = await response.json();
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.result;
}

let isAsking = false;
async function refresh() {
  if (isAsking) return;
  isAsking = true;
  try {
    const [status, { tasks }, costs] = await Promise.all([
      call('status_get'),
      call('task_list', { limit: 200 }),
      call('costs_get', { by: 'day' }),
    ]);
    show(status, tasks);
    fill('costs', costs.rows.slice(-7).toReversed(), costItem);
  } catch (error) {
    // No news must not pass for good news.
    say(`The daemon is away: ${error.message}. What you see may be old.`, true);
  } finally {
    isAsking = false;
  }
}

function show(status, tasks) {
  const asked = status.needs_you.length;
  const runs = status.agents.filter(({ outcome }) => outcome === null).length;
  say(
    `${asked === 0 ? 'Nothing needs you' : `${asked} decision${asked === 1 ? ' needs' : 's need'} you`}, ${runs} at work.`,
    false,
  );
  fill('needs', status.needs_you, decisionItem);
  fill('agents', status.agents, (agent) => item(`${agent.name} ${agent.status}`, agent.task_id ?? ''));
  fill('pipelines', status.pipelines, (run) =>
    item(`${run.name} ${run.status}`, (run.steps ?? []).map(({ name, status: how }) => `${name}: ${how}`).join(', ')),
  );
  const rows = tasks.map(({ id, phase, next_role, claim, title }) =>
    row([id, phase, next_role ?? '', claim?.holder ?? '', title]),
  );
  element('tasks').tBodies[0].replaceChildren(...rows);
}

/** A cost with a + is more than that: nobody knows the price of some of the tokens. */
function costItem({ name, input_tokens, output_tokens, cached_tokens, cost_millicents, unpriced_tokens, budget }) {
  const tokens = (input_tokens + output_tokens + cached_tokens).toLocaleString('en');
  const cost = `$${(cost_millicents / 100_000).toFixed(2)}${unpriced_tokens > 0 ? '+' : ''}`;
  return item(`${name} ${cost}`, `${tokens} tokens${budget === null ? '' : `, ${budget.percent} % of the budget`}`);
}

function decisionItem(decision) {
  const line = item(decision.title, '');
  const context = document.createElement('pre');
  context.textContent = decision.context;
  const buttons = decision.options.map(({ label }, i) => {
    const button = document.createElement('button');
    button.textContent = `${i + 1} ${label}`;
    button.addEventListener('click', () => void resolve(decision.id, i + 1));
    return button;
  });
  line.append(context, ...buttons);
  return line;
}

async function resolve(id, option) {
  try {
    await call('decision_resolve', { id, option });
    await refresh();
  } catch (error) {
    say(error.message, true);
  }
}

/** The daemon's events, read from a stream: an EventSource cannot carry a token. */
async function follow() {
  let after = 0;
  for (;;) {
    try {
      after = after === 0 ? Math.max(0, (await call('status_get')).seq - MOST_ENTRIES) : after;
      const response = await fetch('/v1/events', { headers: { ...headers(), 'last-event-id': String(after) } });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        text += piece.value;
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) after = take(event) ?? after;
        void refresh();
      }
    } catch {
      say('The daemon is away. What you see may be old.', true);
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}

function take(event) {
  const data = event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim())
    .join('');
  if (data === '') return undefined;
  const entry = JSON.parse(data);
  entries.unshift(entry);
  entries.length = Math.min(entries.length, MOST_ENTRIES);
  fill('entries', entries, ({ seq, at, actor, type, data: said }) =>
    item(`${seq} ${at.slice(11, 19)} ${type}`, `${actor} ${said.task_id ?? said.agent_id ?? ''}`),
  );
  return entry.seq;
}

function fill(id, list, make) {
  element(id).replaceChildren(...(list.length === 0 ? [item('', 'none')] : list.map(make)));
}

function item(main, more) {
  const line = document.createElement('li');
  line.append(main);
  const rest = document.createElement('span');
  rest.className = 'dim';
  rest.textContent = more === '' ? '' : ` ${more}`;
  line.append(rest);
  return line;
}

function row(cells) {
  const line = document.createElement('tr');
  for (const text of cells) {
    const cell = document.createElement('td');
    cell.textContent = text;
    line.append(cell);
  }
  return line;
}

function say(text, isAway) {
  const standing = element('standing');
  standing.textContent = text;
  standing.classList.toggle('away', isAway);
  element('board').classList.toggle('away', isAway);
}

function element(id) {
  return document.getElementById(id);
}
