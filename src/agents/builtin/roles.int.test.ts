import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { renderDuration } from './closer.ts';
import { runPrep } from './prep.ts';
import { RoleSession } from './session.ts';
import { runValidator } from './validator.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-roles-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A stand-in for the daemon: records the calls of a role and answers them. */
class Told {
  readonly said: { readonly operation: string; readonly input: Record<string, unknown> }[] = [];
  readonly refusals: Record<string, Extract<Answer, { ok: false }>['error'][]> = {};
  commands: object = { validate: [] };
  exit_protocol = true;
  checks: unknown = null;

  session(): RoleSession {
    const call = async (operation: string, input: unknown) => this.#hear(operation, input);
    return new RoleSession({ call: call as Client['call'] }, () => undefined); // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  async #hear(operation: string, input: unknown): Promise<Answer> {
    if (operation === 'workflow_get') return { ok: true, result: this.#view() };
    this.said.push({ operation, input: input as Record<string, unknown> });
    const error = this.refusals[operation]?.shift();
    return error === undefined ? { ok: true, result: {} } : { ok: false, error };
  }

  #view() {
    const addresses = {
      issue_url: 'http://x.localhost/1',
      issue_number: '1',
      pr_url: 'http://x.localhost/1/pull',
      pr_number: '1',
    };
    const place = { workspace: folder, branch: 'feature/a', port: 3100 };
    const { commands, exit_protocol, checks } = this;
    return { task_id: 'A', title: 'do it', phase: 'DRAFT', addresses, ...place, exit_protocol, checks, commands };
  }

  get handoff(): string {
    return String(this.said.findLast(({ operation }) => operation === 'handoff_send')?.input['handoff']);
  }

  get operations(): string[] {
    return this.said.map(({ operation }) => operation);
  }
}

describe('builtin:prep', () => {
  it('installs, builds and runs the smoke test in the worktree with its port, and hands over', async () => {
    const told = new Told();
    told.commands = {
      install: 'echo i > installed',
      build: 'test -f installed',
      smoke: 'test "$PORT" = 3100 && test -z "$BATON_TOKEN"',
      validate: [],
    };
    await runPrep(told.session());
    expect(told.operations).toEqual(['handoff_send', 'exit_signal']);
    expect(told.handoff).toContain('<to>implementer-agent</to>');
    expect(told.handoff).toContain(`<workspace_path>${folder}</workspace_path>`);
    expect(told.handoff).toMatch(
      /<dependencies>installed<\/dependencies>\s*<build>passing<\/build>\s*<dev_server>verified</,
    );
  });

  it.each([
    ['install', 'DependencyError', 'true'],
    ['build', 'BuildError', 'false'],
  ])('reports a failed %s as an error, and whether a retry may succeed', async (stage, type, recoverable) => {
    const told = new Told();
    told.commands = { [stage]: 'echo "no <way>"; exit 3', validate: [] };
    await runPrep(told.session());
    expect(told.handoff).toContain('<to>orchestrator</to>');
    expect(told.handoff).toContain(`<type>${type}</type>`);
    expect(told.handoff).toContain('no &lt;way>');
    expect(told.handoff).toContain(`<recoverable>${recoverable}</recoverable>`);
    expect(told.said.at(-1)).toMatchObject({ operation: 'exit_signal', input: { exit_reason: 'error' } });
  });

  it('ends with agent:signal if exit signals are off, and continues after the daemon was unavailable', async () => {
    const told = new Told();
    told.exit_protocol = false;
    told.refusals['handoff_send'] = [
      { code: 'daemon-away', message: 'away', hint: '' },
      { code: 'kept', message: 'kept', hint: '' },
    ];
    await runPrep(told.session());
    expect(told.operations).toEqual(['handoff_send', 'handoff_send', 'agent_signal']);
  });
});

describe('builtin:validator', () => {
  it('reports the outcome of each check, and reads the coverage', async () => {
    const told = new Told();
    told.checks = { checks: [{ name: 'unit tests', outcome: 'passed' }] };
    const validate_ = [
      { name: 'coverage', run: 'echo "All files | 93.5 %"' },
      { name: 'lint', run: 'true' },
    ];
    told.commands = { validate: validate_ };
    await runValidator(told.session());
    expect(told.handoff).toContain('<to>closer-agent</to>');
    expect(told.handoff).toMatch(
      /<tests>passed<\/tests>\s*<coverage>93.5 %<\/coverage>\s*<lint>passed<\/lint>\s*<type_check>not configured</,
    );
  });

  it('sends failed checks to the fixer, with their output', async () => {
    const told = new Told();
    writeFileSync(join(folder, 'x'), '');
    told.commands = {
      validate: [
        { name: 'lint', run: 'ls; exit 1' },
        { name: 'slow', run: 'sleep 60', timeoutMs: 50 },
      ],
    };
    await runValidator(told.session());
    expect(told.handoff).toContain('<to>fixer-agent</to>');
    expect(told.handoff).toContain('<failure type="lint">x</failure>');
    expect(told.handoff).toContain('<failure type="slow">ended by SIGKILL</failure>');
  });

  it('returns work that may not be merged, and fails if the fixer cannot help', async () => {
    const told = new Told();
    told.refusals['exit_signal'] = [
      { code: 'approval-void', message: 'the approval was for another commit', hint: '' },
    ];
    await runValidator(told.session());
    expect(told.operations).toEqual(['handoff_send', 'exit_signal', 'handoff_send', 'exit_signal']);
    expect(told.handoff).toContain('<failure type="approval">the approval was for another commit</failure>');
    const other = new Told();
    other.refusals['exit_signal'] = [
      { code: 'no-active-phase', message: 'session has no active work phase', hint: '' },
    ];
    await expect(runValidator(other.session())).rejects.toThrow('no active work phase');
  });
});

describe('a cycle time', () => {
  it.each([
    [900, 'less than a second'],
    [1000, '1 second'],
    [61_000, '1 minute 1 second'],
    [187_200_000, '2 days 4 hours'],
    [86_400_000, '1 day'],
  ])('%i ms is %s', (ms, words) => {
    expect(renderDuration(ms)).toBe(words);
  });
});
