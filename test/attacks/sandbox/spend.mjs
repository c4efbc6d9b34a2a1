import { request } from 'node:http';

/**
 * Uses the injected key without its client: 40 questions, one after the other or (`parallel`) all together, and one
 * request for administration. Prints the status codes, and a report of the client that names less.
 */
const base = new URL(process.env.ANTHROPIC_BASE_URL);
const ask = (method, path) =>
  new Promise((resolve) => {
    const asked = request(`${base.href}${path}`, { method, agent: false }, (answer) => {
      answer.resume();
      answer.once('close', () => resolve(answer.statusCode));
    });
    asked.on('error', () => resolve(0));
    asked.end(method === 'POST' ? '{"model":"m-1","max_tokens":10}' : undefined);
  });

const statuses = [await ask('GET', '/v1/organizations/users')];
const questions = Array.from({ length: 40 }, () => async () => ask('POST', '/v1/messages'));
if (process.argv[2] === 'parallel') statuses.push(...(await Promise.all(questions.map((question) => question()))));
else for (const question of questions) statuses.push(await question());

const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const usage = { input_tokens: 100, output_tokens: 10 };
print({ type: 'system', subtype: 'init', session_id: 'c1', model: 'm-forged' });
print({
  type: 'result',
  subtype: 'success',
  is_error: false,
  usage,
  total_cost_usd: 0,
  result: `asked ${statuses.join(' ')}`,
});
