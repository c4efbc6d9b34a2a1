// An agent of your own: a model with a shell, in one file. In a runbook: run = "node examples/agents/own-agent.mjs"
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { ANTHROPIC_BASE_URL = 'https://api.anthropic.com', ANTHROPIC_API_KEY = '', AGENT_MODEL = '' } = process.env;
const { BATON_URL, BATON_TOKEN, BATON_AGENT_DIR, BATON_PROMPT_FILE } = process.env;

// The conversation outlives this process: when Baton resumes the agent, the next process continues it.
const kept = `${BATON_AGENT_DIR}/conversation.json`;
const messages = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : [];

// The prompt is in a file, and also in the first lines of standard input. Later messages follow on standard input.
const prompt = BATON_PROMPT_FILE === undefined ? '' : readFileSync(BATON_PROMPT_FILE, 'utf8');
let known = BATON_PROMPT_FILE === undefined ? 0 : prompt.split('\n').length;
const told = [];
createInterface({ input: process.stdin }).on('line', (line) => (known > 0 ? (known -= 1) : told.push(line)));

if (prompt !== '') say(prompt);
for (let isBlocked = false; ;) {
  const reply = await ask();
  for (const { type, text } of reply) if (type === 'text') process.stdout.write(`${text}\n`);
  const results = reply.filter(({ type }) => type === 'tool_use').map(use);
  if (told.length > 0) results.push({ type: 'text', text: told.splice(0).join('\n') });
  if (results.length > 0) {
    say(results);
    continue;
  }
  // Call the stop hook before the end of a turn: an empty answer allows the stop, and a block has a reason.
  const { decision, reason } = await post(`${BATON_URL}/hook/stop`, { stop_hook_active: isBlocked }, BATON_TOKEN);
  if (decision !== 'block') process.exit(0);
  isBlocked = true;
  say(reason);
}

function say(content) {
  messages.push({ role: 'user', content });
  writeFileSync(kept, JSON.stringify(messages));
}

function use({ id, input }) {
  const { stdout, stderr, status } = spawnSync('sh', ['-c', input.command], { encoding: 'utf8' });
  return { type: 'tool_result', tool_use_id: id, content: `${stdout}${stderr}(exit code ${status})` };
}

async function ask() {
  const tools = [
    {
      name: 'shell',
      description: 'Runs a command.',
      input_schema: { type: 'object', properties: { command: { type: 'string' } } },
    },
  ];
  const body = { model: AGENT_MODEL, max_tokens: 4096, tools, messages };
  const { content } = await post(`${ANTHROPIC_BASE_URL}/v1/messages`, body, ANTHROPIC_API_KEY);
  messages.push({ role: 'assistant', content });
  writeFileSync(kept, JSON.stringify(messages));
  return content;
}

async function post(url, body, key) {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${key}`,
    'x-api-key': key,
    'anthropic-version': '2023-06-01',
  };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
