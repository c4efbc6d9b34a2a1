import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { MemoryStore } from '../../ledger/memory-store.ts';
import { openTestLedger, testSigner } from '../../ledger/writer/ledger.cases.ts';
import type { Command } from '../../state/decide.ts';
import { checkRunbook } from '../../runbook/check/check-runbook.ts';
import { admit, found, remove } from '../../state/fleet/say.cases.ts';
import { claim, create, handoff, operator, record, SHA, system } from '../../state/say.cases.ts';
import { handleWebhook, type WebhookOptions } from '../http/github-webhook.ts';
import { CommandLoop } from '../loop/command-loop.ts';
import { loadState } from '../loop/fold-state.ts';
import { CommitClock } from '../loop/speculative-state.ts';
import type { Project } from '../project/project.ts';
import { NO_RUNBOOK } from '../rules/rulebook.ts';
import { configureWorkers } from '../rules/workers.ts';
import type { Call } from './call.ts';
import { handoffHandler } from './handoffs.ts';

/**
 * The callers that decide a command inside a request of their own. `beta` was removed, but its daemon still runs and
 * sees the ledger.
 */
const RUNBOOK = '[pipelines.p]\nsteps = [{ name = "s", run = "true" }]\n[workers.w]\nrun = { pipeline = "p" }\n';
const RULES = { ciGate: true, mergeGate: false, checks: [{ name: 'build' }] };
const SECRET = 'not a secret';
let store: MemoryStore;

beforeEach(async () => {
  store = new MemoryStore();
  const loop = await openLoop('alpha');
  const say = async (command: Command, caller = operator): Promise<void> => {
    expect(await loop.submitCommand(command, caller)).toMatchObject({ ok: true });
  };
  await say(found('alpha'), system);
  await say(admit('beta'));
  for (const id of ['A', 'B']) {
    await say(create(id));
    await say(claim(id, `session of ${id}`, { role: 'implementer' }));
    const { command } = record({ task_id: id }, 1);
    await say({ kind: 'record-thought', command: { ...command, recordId: `record of ${id}` } } as Command);
  }
  await say(handoff());
  await say(remove('beta'));
});

async function openLoop(here: string): Promise<CommandLoop> {
  const clock = new CommitClock(() => new Date());
  const ledger = await openTestLedger({ store, signer: testSigner(1), clock: () => clock.read() });
  return new CommandLoop({
    ledger,
    state: await loadState(ledger),
    rules: RULES,
    here,
    clock,
    onRecorded: () => {},
    onInternalError: (error) => {
      throw error;
    },
  });
}

async function openProjectOn(host: string): Promise<Project> {
  const commandLoop = await openLoop(host);
  return { id: 'p', commandLoop, ledger: { secrets: [] } } as unknown as Project; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

const HANDOFF = `<handoff><from>implementer-agent</from><to>reviewer-agent</to><issue_url>https://example.org/2</issue_url><issue_number>2</issue_number><pr_url>https://example.org/2</pr_url><pr_number>2</pr_number><branch>main</branch><summary>x</summary><files_changed>0</files_changed><tests_added>0</tests_added><coverage>0%</coverage><commits><commit sha="${SHA}">x</commit></commits></handoff>`;

/** Each sends its command through a host's door, and returns what the door answers. */
const DOORS = {
  'the handoff operation': async (project: Project) => {
    const rulebook = { runbookFor: () => NO_RUNBOOK };
    const services = { rulebook, newId: randomUUID } as unknown as Call['services']; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return handoffHandler({ project, input: { handoff: HANDOFF, task_id: 'B' }, caller: operator, services });
  },
  "GitHub's report of a check": async (project: Project) => {
    const opened = () => [{ project, services: { newId: randomUUID } }];
    const options = { env: { BATON_GITHUB_WEBHOOK_SECRET: SECRET }, stateDir: '/nowhere', projects: { opened } };
    const server = createServer((request, response) => {
      void handleWebhook(request, response, options as unknown as WebhookOptions); // oxlint-disable-line typescript/no-unsafe-type-assertion
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const body = JSON.stringify({
      action: 'completed',
      workflow_run: { name: 'build', head_sha: SHA, conclusion: 'success' },
      repository: { html_url: 'https://github.com/owner/name' },
    });
    const { port } = server.address() as AddressInfo; // oxlint-disable-line typescript/no-unsafe-type-assertion
    const answer = await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      body,
      headers: {
        'x-github-event': 'workflow_run',
        'x-github-delivery': 'd1',
        'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      },
    });
    return answer.json();
  },
  'the workers of a runbook': async (project: Project) => {
    const errors: string[] = [];
    const log = { error: (_: string, fields?: object) => void errors.push(JSON.stringify(fields)), info: () => {} };
    const checked = checkRunbook([{ path: 'baton.toml', text: RUNBOOK }]);
    if (!checked.ok) throw new Error(checked.problems[0]?.message);
    await configureWorkers(project, { runbook: checked.value, holdsCredential: false }, log);
    const isRefused = errors.join().includes('host beta was removed');
    return isRefused ? { ok: false, error: { code: 'host-removed' } } : { ok: true };
  },
};

it.each(Object.entries(DOORS))('%s is refused on a removed host, and records nothing', async (_, send) => {
  const removed = await openProjectOn('beta');
  const before = await removed.commandLoop.read(({ state }) => state.seq);
  expect(await send(removed)).toMatchObject({ ok: false, error: { code: 'host-removed' } });
  expect(await removed.commandLoop.read(({ state }) => state.seq)).toEqual(before);
  expect(await send(await openProjectOn('alpha'))).toMatchObject({ ok: true });
});
