import { createClient } from '../../api/client/connect.ts';
import { runCloser } from './closer.ts';
import { runPrep } from './prep.ts';
import { RoleSession } from './session.ts';
import { runValidator } from './validator.ts';

/** The roles that need no judgement: `builtin:prep`, `builtin:validator`, `builtin:closer`. */
const ROLES = { prep: runPrep, validator: runValidator, closer: runCloser } as const;

void main();

async function main(): Promise<void> {
  const [role = ''] = process.argv.slice(2);
  const play = Object.entries(ROLES).find(([name]) => name === role)?.[1];
  if (play === undefined) {
    process.stderr.write(`there is no built-in role ${role}\n`);
    process.exitCode = 2;
    return;
  }
  const client = createClient({ reachMs: 60_000 });
  const session = new RoleSession(client, (line) => void process.stdout.write(`${line}\n`));
  try {
    await play(session);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}\n`);
    // A person must decide, so the session stays open and waits.
    const asked = await client.call('agent_signal', { kind: 'escalate', message: `${role}: ${message}` });
    if (!asked.ok) process.exitCode = 1;
  } finally {
    client.close();
  }
}
