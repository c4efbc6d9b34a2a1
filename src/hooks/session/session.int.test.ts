import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inLongLane } from '../../../test/lanes.ts';
import { BATON, COMPILE_CACHE } from '../../../test/package/where.ts';

const DEADLINE = 60_000;

/**
 * A client that runs its hooks and shell commands as its children: a Node program that reads commands and prints their
 * output. Uses real processes and a real daemon, but no model.
 */
class Desk implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-own-')));
  readonly project = join(this.folder, 'project');
  readonly env = {
    ...COMPILE_CACHE,
    PATH: process.env['PATH'] ?? '',
    HOME: this.folder,
    BATON_STATE_DIR: join(this.folder, 'state'),
  };

  constructor() {
    mkdirSync(this.project);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: this.project, env: this.env });
    git('init', '--quiet', '--initial-branch', 'main');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'first');
  }

  baton(...args: string[]): string {
    return execFileSync(process.execPath, [BATON, ...args], { cwd: this.project, env: this.env, encoding: 'utf8' });
  }

  task(id: string): { phase: string; claim: unknown; endings: unknown } {
    return JSON.parse(this.baton('task', 'show', id, '--json')) as ReturnType<Desk['task']>;
  }

  head(): string {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: this.project, env: this.env, encoding: 'utf8' }).trim();
  }

  outbox(): readonly string[] {
    return readdirSync(join(this.env.BATON_STATE_DIR, 'outbox')).filter((name) => name.endsWith('.json'));
  }

  /** Runs a session: each step is a hook (`start`, `stop`, `end`, with options) or a command line of `baton`. */
  session(steps: readonly Step[], conversation = 'c-1'): readonly Played[] {
    const script = join(this.folder, 'client.mjs');
    writeFileSync(script, CLIENT);
    const input = JSON.stringify({ steps, conversation, cwd: this.project, baton: BATON });
    const ran = spawnSync(process.execPath, [script], { cwd: this.project, env: this.env, input, encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(ran.stderr);
    return JSON.parse(ran.stdout) as Played[];
  }

  [Symbol.dispose](): void {
    this.baton('down');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface Step {
  readonly hook?: readonly string[];
  readonly baton?: readonly string[];
  readonly input?: object | string;
}

interface Played {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const CLIENT = `
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
const { steps, conversation, cwd, baton } = JSON.parse(readFileSync(0, 'utf8'));
const played = steps.map(({ hook, baton: command, input = {} }) => {
  const args = hook === undefined ? command : ['hooks', 'run', 'claude', ...hook];
  const text = typeof input === 'string' ? input : JSON.stringify({ session_id: conversation, cwd, ...input });
  // Through a shell, as clients do.
  const line = [process.execPath, baton, ...args].map((word) => "'" + word.replaceAll("'", "'\\\\''") + "'").join(' ');
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', line + '; exit $?'], { input: text, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
});
console.log(JSON.stringify(played));
`;

const START: Step = { hook: ['start'], input: { source: 'startup' } };
const STOP: Step = { hook: ['stop'], input: { stop_hook_active: false } };
const CLAIM: Step = { baton: ['task', 'claim', 'T1', '--as', 'ada'] };

describe("a person's own session", () => {
  it(
    'gets the brief of the project, and is never blocked without a task',
    () => {
      using desk = new Desk();
      desk.baton('task', 'add', 'T1', '--title', 'Write the parser');
      const [start, stop] = desk.session([START, STOP]);
      const { additionalContext } = outputOf(start).hookSpecificOutput ?? {};
      expect(additionalContext).toContain('- T1 (IMPLEMENTATION): Write the parser');
      expect(stop).toEqual({ code: 0, out: '', err: '' });
    },
    DEADLINE,
  );

  inLongLane(() => {
    it(
      'is blocked once while it holds a task, and may stop after its signal',
      () => {
        using desk = new Desk();
        desk.baton('task', 'add', 'T1', '--title', 'Write the parser');
        const again: Step = { hook: ['stop'], input: { stop_hook_active: true } };
        const signal: Step = { baton: ['emit', 'agent:signal', '{"kind":"complete"}'] };
        const [, claimed, held, flagged, signalled, free] = desk.session([START, CLAIM, STOP, again, signal, STOP]);
        expect(claimed).toMatchObject({ code: 0 });
        expect(outputOf(held)).toMatchObject({
          decision: 'block',
          reason: expect.stringMatching(/You must explicitly signal/),
        });
        expect(outputOf(held).reason).toMatch(/This session holds T1/);
        expect(flagged?.out).toBe('');
        expect(signalled?.out).toContain('your part of T1 is complete');
        expect(free?.out).toBe('');
        expect(desk.task('T1')).toMatchObject({ phase: 'CI_PENDING', claim: null });
      },
      DEADLINE,
    );
  });

  it(
    'may stop after its record, which it sends without naming a token',
    () => {
      using desk = new Desk();
      desk.baton('task', 'add', 'T1', '--title', 'Write the parser');
      const record = {
        task_id: 'T1',
        branch: 'main',
        commit_sha: desk.head(),
        tests_run: ['npm test'],
        summary: 'It parses.',
        blockers: [],
        files_changed: [],
        related_thought_records: [],
      };
      const [, , recorded, stop] = desk.session([
        START,
        CLAIM,
        { baton: ['thought', 'record', '-'], input: JSON.stringify(record) },
        STOP,
      ]);
      expect(recorded).toMatchObject({ code: 0, err: '' });
      expect(stop?.out).toBe('');
      const [next] = desk.session([START], 'c-2');
      expect(outputOf(next).hookSpecificOutput?.additionalContext).toContain('ada');
    },
    DEADLINE,
  );

  it(
    'claims a task at its start if the user configured that, and releases it at its end',
    () => {
      using desk = new Desk();
      desk.baton('task', 'add', 'T1', '--title', 'Write the parser');
      const start: Step = { hook: ['start', '--claim'], input: { source: 'startup' } };
      const clear: Step = { hook: ['end'], input: { reason: 'clear' } };
      const end: Step = { hook: ['end'], input: { reason: 'prompt_input_exit' } };
      const [began, held, , cleared, , shown] = desk.session([
        start,
        STOP,
        clear,
        start,
        end,
        { baton: ['task', 'show', 'T1', '--json'] },
      ]);
      expect(outputOf(began).hookSpecificOutput?.additionalContext).toMatch(
        /This session holds T1[^]*# Task T1[^]*Write the parser/,
      );
      expect(outputOf(held)).toMatchObject({ decision: 'block' });
      expect(outputOf(cleared).hookSpecificOutput?.additionalContext).toContain('This session holds T1');
      expect(JSON.parse(shown?.out ?? '')).toMatchObject({
        claim: null,
        endings: [{ how: 'released', reason: 'the session ended' }],
      });
      const [next] = desk.session([START], 'c-2');
      expect(outputOf(next).hookSpecificOutput?.additionalContext).toMatch(/worked on T1, Write the parser: released/);
    },
    DEADLINE,
  );

  inLongLane(() => {
    it(
      'releases the claims of a killed session when the next one starts',
      () => {
        using desk = new Desk();
        desk.baton('task', 'add', 'T1', '--title', 'Write the parser');
        desk.session([{ hook: ['start', '--claim'], input: { source: 'startup' } }]);
        expect(desk.task('T1').claim).not.toBeNull();
        const [start] = desk.session([START], 'c-2');
        expect(desk.task('T1')).toMatchObject({ claim: null });
        expect(outputOf(start).hookSpecificOutput?.additionalContext).toContain('- T1');
      },
      DEADLINE,
    );
  });

  inLongLane(() => {
    it(
      'keeps its claims when its conversation is resumed',
      () => {
        using desk = new Desk();
        desk.baton('task', 'add', 'T1', '--title', 'Write the parser');
        desk.session([START, CLAIM]);
        const [start, stop] = desk.session([{ hook: ['start'], input: { source: 'resume' } }, STOP]);
        expect(outputOf(start).hookSpecificOutput?.additionalContext).toContain('This session holds T1');
        expect(outputOf(stop)).toMatchObject({ decision: 'block' });
      },
      DEADLINE,
    );
  });

  it(
    'is never blocked while the daemon is away, and its writes are kept',
    () => {
      using desk = new Desk();
      desk.baton('task', 'add', 'T1', '--title', 'Write the parser');
      const down: Step = { baton: ['down'] };
      const end: Step = { hook: ['end'], input: { reason: 'other' } };
      const [, , stop, ended] = desk.session([{ hook: ['start', '--claim'], input: {} }, down, STOP, end]);
      expect(outputOf(stop)).toEqual({ systemMessage: expect.stringContaining('no daemon answers') });
      expect(ended).toMatchObject({ code: 0, out: '' });
      expect(desk.outbox()).toHaveLength(1);
      expect(desk.task('T1')).toMatchObject({ claim: null });
    },
    DEADLINE,
  );

  it(
    'gets no message in a folder without Baton',
    () => {
      using desk = new Desk();
      const [start, stop] = desk.session([START, STOP]);
      expect([start?.out, stop?.out]).toEqual(['', '']);
      expect(() => readFileSync(join(desk.env.BATON_STATE_DIR, 'projects.json'))).toThrow('ENOENT');
    },
    DEADLINE,
  );

  it(
    'continues whatever its client sends',
    () => {
      using desk = new Desk();
      const odd = ['', 'null', '{"session_id": 7, "cwd": []}', '\u0000', '['.repeat(10_000)];
      for (const played of desk.session(
        odd.flatMap((input) => [
          { hook: ['start'], input },
          { hook: ['stop'], input },
          { hook: ['end'], input },
        ]),
      ))
        expect(played).toMatchObject({ code: 0, out: '' });
    },
    DEADLINE,
  );
});

interface Output {
  readonly decision?: string;
  readonly reason?: string;
  readonly hookSpecificOutput?: { readonly additionalContext: string };
}

function outputOf(played: Played | undefined): Output {
  return JSON.parse(played?.out || '{}') as Output;
}
