import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keepCall, listKept } from '../api/outbox.ts';
import { SessionLimits } from './session-limits.ts';
import { OutboxDelivery } from './outbox-delivery.ts';
import { sessionOf } from '../state/runs/find-run.ts';
import type { Caller } from '../state/caller.ts';
import type { PageDoor } from './pages/page-ledgers.ts';
import type { Projects } from './project/projects.ts';
import { AccessTokens } from './tokens.ts';

const NO_RUNS = { agents: new Map<string, never>() };

/**
 * An outbox with calls of two projects. The store of `locked` is not writable; that of `open` refuses everything. Agents
 * work for the session of their name. `isOpen`: whether the projects are open.
 */
function scene({ isOpen = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-outbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tokens = new AccessTokens(folder);
  const outbox = join(folder, 'outbox');
  const asked: string[] = [];
  const answers = { open: 'no-such-project', locked: 'store-unavailable' };
  const find = async (id: string) => {
    asked.push(id);
    const code = id === 'locked' ? answers.locked : answers.open;
    if (code === 'internal') throw new Error('a mistake');
    if (code === 'ENOSPC') throw Object.assign(new Error('no space left'), { code });
    return { ok: false, error: { code, message: code, hint: '' } } as const;
  };
  const open = { find, sessionOf: (_: string, caller: Caller) => (isOpen ? sessionOf(NO_RUNS, caller) : undefined) };
  // Nothing else is called, because tokens of sessions and supervisors name their project.
  const projects = open as unknown as Projects; // oxlint-disable-line typescript/no-unsafe-type-assertion
  // Not used, because pages have no tokens and so no calls in the outbox.
  const door = {} as unknown as PageDoor; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const logged: string[] = [];
  const log = { info: (line: string) => void logged.push(line), error: () => {} };
  const delivery = new OutboxDelivery({
    projects,
    door,
    outbox,
    log,
    sessionLimits: new SessionLimits(),
    tokens,
    drain: async (caller) => delivery.drainFor(caller),
  });
  onTestFinished(async () => delivery.stop());
  const keep = (operation: string, token: string, projectPath: string | null, key: string): boolean =>
    keepCall(outbox, { v: 1, operation, input: '{}', key, token, projectPath, keptAt: '2026-01-01T00:00:00.000Z' });
  const keepEnd = (project: string, id: string): void => {
    const token = tokens.issueSession({ project, sessionId: id, taskId: 't', epoch: 1 });
    keep('exit_signal', token, '/repo', `${project}-${id}-signal`);
    keep('agent_report', tokens.issueSupervisor({ project, id }), null, `${project}-${id}-exited`);
  };
  for (const project of ['locked', 'open']) keepEnd(project, 's');
  return { delivery, outbox, asked, answers, keepEnd, logged };
}

it('keeps the order of a session, whatever token each call has, and does not delay another project', async () => {
  const { delivery, outbox, asked } = scene();
  expect(await delivery.deliver()).toEqual({ delivered: 0, refused: 2, waiting: 2 });
  expect(asked.filter((id) => id === 'locked')).toHaveLength(1);
  expect(asked.filter((id) => id === 'open')).toHaveLength(2);
  expect(listKept(outbox)).toHaveLength(2);
});

it('does not delay a session by another one, and delivers their calls together', async () => {
  const { delivery, asked, answers, keepEnd, logged, outbox } = scene();
  for (const id of ['s2', 's3']) keepEnd('locked', id);
  expect(await delivery.deliver()).toEqual({ delivered: 0, refused: 2, waiting: 6 });
  expect(
    asked.filter((id) => id === 'locked'),
    'the first call of each session',
  ).toHaveLength(3);
  answers.locked = 'no-such-project';
  logged.length = 0;
  expect(await delivery.deliver()).toEqual({ delivered: 0, refused: 6, waiting: 0 });
  expect([logged.length, listKept(outbox).length], 'one line for all of them').toEqual([1, 0]);
});

it('delivers a new session while an earlier one waits to be tried again', async () => {
  const { delivery, outbox, keepEnd } = scene();
  await delivery.deliver();
  expect(listKept(outbox)).toHaveLength(2);
  keepEnd('open', 's2');
  delivery.deliverIfAny();
  expect(await delivery.drain('open')).toBe(true);
  expect(listKept(outbox)).toHaveLength(2);
});

it('waits only for the calls of the same session before a direct call', async () => {
  const { delivery, asked, keepEnd } = scene();
  keepEnd('open', 's2');
  const ofSession = (sessionId: string) =>
    ({ project: 'open', caller: { kind: 'session', sessionId, taskId: 't', epoch: 1 } }) as const;
  expect(await delivery.drainFor(ofSession('s3'))).toBe(true);
  expect(asked).toEqual([]);
  expect(await delivery.drainFor(ofSession('s2'))).toBe(true);
  expect(asked).toHaveLength(2);
  expect(delivery.isWaiting('open')).toBe(true);
});

it('keeps the order of all calls while it does not know the sessions of a closed project', async () => {
  const { delivery, asked, keepEnd } = scene({ isOpen: false });
  keepEnd('locked', 's2');
  await delivery.drain('locked');
  // Once to open the project, and once for the first call.
  expect(asked).toEqual(['locked', 'locked']);
});

it('reports whether a project is drained, without delivering for others', async () => {
  const { delivery, asked } = scene();
  expect(await delivery.drain('locked')).toBe(false);
  expect(await delivery.drain('open')).toBe(true);
  expect(await delivery.drain('unknown')).toBe(true);
  expect(asked).toEqual(['locked', 'open', 'open']);
});

it('reports a project as not drained while the outbox cannot be read', async () => {
  const { delivery, outbox, asked } = scene();
  renameSync(outbox, `${outbox}-away`);
  symlinkSync(outbox, outbox);
  expect([delivery.isWaiting('open'), await delivery.drain('open'), asked]).toEqual([true, false, []]);
  rmSync(outbox);
  renameSync(`${outbox}-away`, outbox);
  expect(await delivery.drain('open')).toBe(true);
});

it('reports a project as not drained if it stops with calls left', async () => {
  const { delivery } = scene();
  await delivery.stop();
  expect([await delivery.drain('open'), await delivery.drain('unknown')]).toEqual([false, true]);
});

it('sets aside a file without a call, and continues', async () => {
  const { delivery, outbox } = scene();
  mkdirSync(join(outbox, '000000000000.json'));
  writeFileSync(join(outbox, '000000000009.json'), '{"v":1,');
  expect(await delivery.drain('open')).toBe(true);
  await delivery.deliver();
  expect(readdirSync(join(outbox, 'corrupt'))).toHaveLength(2);
});

it('retries a call after an internal error, and sets it aside in the end', async () => {
  const { delivery, outbox, answers } = scene();
  answers.open = 'internal';
  expect(await delivery.drain('open')).toBe(false);
  expect(listKept(outbox)).toHaveLength(4);
  for (let tries = 2; tries < 5; tries++) expect(await delivery.drain('open')).toBe(false);
  // The fifth try settles the first call, and the second one follows.
  expect(await delivery.drain('open')).toBe(false);
  expect([listKept(outbox).length, readdirSync(join(outbox, 'refused')).length]).toEqual([3, 1]);
});

it('does not wait for a settled call whose file cannot be removed', async () => {
  const { delivery, outbox } = scene();
  // The folder for refused calls cannot be created, so the files stay.
  writeFileSync(join(outbox, 'refused'), '');
  expect(await delivery.drain('open')).toBe(true);
  expect([delivery.isWaiting('open'), listKept(outbox).length]).toEqual([false, 4]);
});

it('keeps a call for as long as the disk is full', async () => {
  const { delivery, outbox, answers } = scene();
  answers.open = 'ENOSPC';
  for (let tries = 1; tries < 10; tries++) expect(await delivery.drain('open')).toBe(false);
  expect(listKept(outbox)).toHaveLength(4);
});

it('measures how long a project is blocked by its store or an unreadable outbox', async () => {
  const { delivery, outbox, answers } = scene();
  await delivery.deliver();
  expect([delivery.blockedMs('locked') > 0, delivery.blockedMs('open')]).toEqual([true, 0]);
  answers.locked = 'no-such-project';
  await delivery.deliver();
  expect(delivery.blockedMs('locked')).toBe(0);
  rmSync(outbox, { recursive: true });
  symlinkSync(outbox, outbox);
  delivery.deliverIfAny();
  expect(delivery.blockedMs('open')).toBeGreaterThan(0);
  rmSync(outbox);
  await delivery.deliver();
  expect(delivery.blockedMs('open')).toBe(0);
});
