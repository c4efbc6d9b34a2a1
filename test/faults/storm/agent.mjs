import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * The agent of the storm: notes its start, sends one signal until Baton has acknowledged it, and notes that. At two
 * points it waits while a file exists, so that many agents continue at the same moment. The notes are outside the state
 * folder, whose disk may be full.
 */
const { STORM_FOLDER: folder = '', BATON_AGENT_ID: agent = '' } = process.env;
const note = (what) => {
  appendFileSync(`${folder}/notes`, `${what} ${agent}\n`);
  appendFileSync(`${folder}/timeline`, `${new Date().toISOString()} ${what} ${agent}\n`);
};

async function hold(where) {
  if (!existsSync(`${folder}/hold-${where}`)) return;
  note(`holds-${where}`);
  for (let left = 1500; left > 0 && existsSync(`${folder}/hold-${where}`); left -= 1) await pause(20);
}

note('started');
await hold('before');
for (let tries = 1; ; tries += 1) {
  const args = [
    'emit',
    'agent:signal',
    '--agent',
    agent,
    JSON.stringify({ kind: 'complete', message: `done ${agent}` }),
  ];
  const { status, stdout, stderr } = spawnSync('baton', args, { encoding: 'utf8' });
  // Both answers guarantee delivery: recorded, and kept in the outbox.
  if (status === 0) {
    note(/^Note: .*\bkept\b/m.test(stderr) ? 'kept' : 'acknowledged');
    break;
  }
  if (tries === 60) {
    note('gave-up');
    appendFileSync(`${folder}/notes`, `# ${JSON.stringify([status, stdout, stderr])}\n`);
    break;
  }
  await pause(250);
}
await hold('after');
