import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DemoSession, TASK } from './demo-session.ts';

const TITLE = 'Read durations back';

/** Goes from a request to a merge, and its proof. */
export async function walk(demo: DemoSession): Promise<void> {
  const { folder } = demo.place;
  const proof = join(folder, `${TASK}.proof.json`);
  // Opens the page first, so that it shows the running workflow.
  if (demo.options.page) await demo.baton('web');
  await adoptRunbook(demo);
  await demo.baton('run', 'issue', TITLE, '--plan');
  await demo.baton('run', 'issue', TITLE);
  demo.io.out('\n');
  for (const block of await readBlocks(demo))
    demo.io.out(`The implementer tried to stop. Baton blocked the stop and answered: ${block}\n`);
  await demo.shell('git log --oneline');
  await demo.baton('task', 'show', TASK);
  await demo.baton('handoff', 'list', TASK);
  await waitForSeal(demo);
  await demo.baton('ledger', 'root');
  await demo.baton('ledger', 'verify');
  await demo.baton('ledger', 'prove', TASK, '-o', proof);
  await demo.baton('verify', proof);
  await demo.baton('ledger', 'export', '-o', join(folder, 'ledger.ndjson'));
  // Without --keep the demo removes the page at its end.
  if (demo.options.keep && !demo.options.page) await demo.baton('web', '--no-token');
}

/** Reads the stop hook's reasons in the agent's conversation, because the ledger does not have them. */
async function readBlocks({ client, place }: DemoSession): Promise<string[]> {
  const view = await client.call('task_view', { task_id: TASK });
  if (!view.ok) throw new Error(view.error.message);
  return view.result.sessions.flatMap(({ agent, agent_id: id }) => {
    if (agent !== 'implementer' || id === null) return [];
    const kept = readFileSync(join(place.stateDir, 'agents', id, `kept/scripted-${id}.json`), 'utf8');
    const { messages } = JSON.parse(kept) as { messages: { text: string }[] }; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return messages.flatMap(({ text }) => (text.startsWith('Stop hook feedback:') ? [text.split('\n')[1] ?? ''] : []));
  });
}

/** The daemon seals the ledger a moment after the workflow ends. */
async function waitForSeal(demo: DemoSession): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    await demo.unlessLeaving();
    const root = await demo.client.call('merkle_root', {});
    if (root.ok) return;
    await sleep(50);
  }
  throw new Error('the ledger was not sealed');
}

/** The demo's own runbook may take the sandbox away, so it is adopted for the person who started the demo. */
async function adoptRunbook({ client }: DemoSession): Promise<void> {
  const rules = await client.call('runbook_rules', {});
  const working = rules.ok ? rules.result.working : null;
  if (working?.loosens === true) await client.call('runbook_adopt', { accept_rules: working.sha256 });
}
