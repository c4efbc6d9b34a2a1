import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isUserModeSetUp } from '../../src/sandbox/user/agent-user.ts';
import { findLedgerFault } from '../processes/ledger.ts';
import { PATIENCE_MS, RunWorld, type Shown } from '../processes/run-world.ts';
import { withoutSandbox } from '../sandbox-words.ts';

/** A bubblewrap that fails as on a kernel without user namespaces. */
const BWRAP = `#!/bin/sh
case "$1" in --version) echo 'bubblewrap 0.8.0' && exit 0 ;; esac
echo 'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.' >&2
exit 1
`;

const RUNBOOK = `
limits = { kill_after = "300ms", leave = "1s" }
[agents.any]
run = "echo worked > done; exec sleep 60"
[agents.strict]
run = "echo worked > done"
sandbox = "bubblewrap"
on_dead = "fail"
[workers.any]
tasks = ["ANY"]
run = { agent = "any" }
[workers.strict]
tasks = ["STRICT"]
run = { agent = "strict" }
[workspace]
setup = "echo set up > setup"
`;

const other = await isUserModeSetUp();
const unless = other.ok ? ` (NOT RUN: agents run as ${other.user.name} instead)` : '';

describe.skipIf(other.ok)(`without user namespaces${unless}`, { timeout: PATIENCE_MS }, () => {
  let world: RunWorld;
  let bin: string;
  let [any, strict]: (Shown & { readonly sandbox?: unknown })[] = [];

  beforeAll(async () => {
    bin = mkdtempSync(join(tmpdir(), 'baton-bin-'));
    writeFileSync(join(bin, 'bwrap'), BWRAP, { mode: 0o755 });
    world = await RunWorld.open({ runbook: RUNBOOK, env: { PATH: `${bin}:${process.env['PATH']}` } });
    for (const task_id of ['ANY', 'STRICT']) await world.ask('task_create', { task_id, title: task_id });
    [any, strict] = await Promise.all(
      [
        ['any', 'running'],
        ['strict', 'gone'],
      ].map(async ([name, process]) =>
        world.until(`${name} is ${process}`, async () => {
          const { agents } = await world.ask<{ agents: readonly { id: string; name: string }[] }>('agent_list', {
            all: true,
          });
          const id = agents.find((each) => each.name === name)?.id;
          const shown = id === undefined ? undefined : await world.ask('agent_show', { id });
          return shown?.process === process && shown;
        }),
      ),
    );
  }, PATIENCE_MS);
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    rmSync(bin, { recursive: true });
  });

  it('auto continues without a sandbox, and one line reports that wherever the session is shown', async () => {
    const line = expect.stringMatching(/^No sandbox: .*No permissions to create new namespace/);
    expect(any).toMatchObject({ sandbox: { kind: 'none', network: 'host', notes: [line], summary: 'no sandbox' } });
    const [started] = await world.entries(any?.id ?? '', 'AgentStarted');
    expect(started?.data).toMatchObject({ sandbox: 'none', sandbox_notes: [line] });
    const log = readFileSync(any?.log ?? '', 'utf8');
    expect(log).toMatch(/^baton: sandbox: No sandbox: .*\n$/);
    expect(withoutSandbox(log)).toBe('');
    expect(world.world.baton(['status']).out).toMatch(/any .* running .*\(no sandbox\) task ANY/);
    const folder = join(world.repository, '.worktrees/any-any');
    await world.until('it has worked', () => existsSync(join(folder, 'done')));
    expect(existsSync(join(folder, 'setup'))).toBe(true);
  });

  it('sandbox = "bubblewrap" does not start the agent, and gives the reason and the fix', () => {
    expect(strict).toMatchObject({ status: 'failed', sandbox: null, pid: null, exit: null });
    const refusal = /sandbox = "bubblewrap" does not work here: .*No permissions to create new namespace.*\. \S.+/;
    expect(strict?.reason).toMatch(refusal);
    expect(existsSync(strict?.log ?? '')).toBe(false);
    expect(existsSync(join(world.repository, '.worktrees/strict-strict/done'))).toBe(false);
    expect(world.world.baton(['status']).out).toMatch(refusal);
  });

  it('doctor names the agent that cannot start, and no other fault', async () => {
    const { out } = world.world.baton(['doctor']);
    expect(out).toMatch(/^warning +bubblewrap .*No permissions to create new namespace/m);
    expect(out).toMatch(/^problem +runbook .*bubblewrap.* cannot start: strict$/m);
    expect(await findLedgerFault(world.world)).toBeUndefined();
    await world.ask('agent_kill', { id: any?.id, reason: 'enough' });
    await world.gone(any?.id ?? '');
  });
});
