import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { findProcesses } from '../processes/find-processes.ts';
import type { Asked } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import { textIn } from './client.cases.ts';
import { claudeHands } from './played-hands.ts';
import { playModel, PROMPTS, roleIn } from './played-model.ts';
import { openUser, shellOf } from './with-daemon.ts';
import {
  ALL_HANDOFFS,
  describeTurns,
  entriesIn,
  handoffsIn,
  makeRepository,
  runAndConfirm,
  runBaton,
} from './workflow-run.ts';

const bubblewrap = await probeBubblewrap();

/** The runbook defines no agents, so all are built-in ones. */
const RUNBOOK = `exit_protocol = true

[[ci.required]]
name = "test"
run = "node --test"

[workflow]
smoke = "node --test"

[notify]
desktop = false
terminal = false
`;

describe('the built-in workflow with Claude Code in every role that an agent plays', () => {
  it('goes from a request to a merge, past a blocked stop and a round of changes', { timeout: 240_000 }, async () => {
    await using user = await openUser(claudeCase, playModel(claudeHands));
    makeRepository(user, RUNBOOK);
    const baton = async (...args: string[]) => runBaton(user, shellOf(claudeCase, user), args);
    try {
      const ran = await runAndConfirm(baton, 'issue', 'Read durations back');
      const conversations = describeTurns(user.model.asked);
      expect(ran.code, `${ran.out}\n${conversations}`).toBe(0);
      expect(handoffsIn(ran.out)).toEqual(ALL_HANDOFFS);
      // main has one commit with all of the work, which passes its tests.
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', user.project, ...args], { encoding: 'utf8' }).trim();
      expect(git('rev-list', '--count', 'main')).toBe('2');
      expect(git('show', 'main:src/parse-duration.js')).toContain('throw new RangeError');
      expect(git('show', 'main:test/parse-duration.test.js')).toContain('is an error');
      expect(git('status', '--porcelain')).toBe('');
      expect(git('branch', '--list', 'feature/*')).toBe('');
      expect(git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);

      // There were five conversations, each with the prompt of its role, and each ended by the agent's own signal.
      const starts = user.model.asked.filter(({ messages }) => messages.every(({ role }) => role !== 'model'));
      expect(starts.map(roleIn)).toEqual(['issue-manager', 'implementer', 'reviewer', 'fixer', 'reviewer']);
      for (const asked of starts) expect(textIn(asked)).toContain(PROMPTS[roleIn(asked) ?? 'fixer']);
      // All later agents received the issue-manager's request.
      for (const role of ['implementer', 'reviewer', 'fixer'])
        expect(textOf(user.model.asked, role)).toContain('parseDuration("1h 30m") is 5400000');
      expect(conversations).toContain('You must explicitly signal completion before stopping');

      expect(await baton('ledger', 'verify')).toMatchObject({ code: 0 });
      const proof = join(user.temporary, 'proof.json');
      expect(await baton('ledger', 'prove', 'W-00001', '-o', proof)).toMatchObject({ code: 0 });
      expect(await baton('verify', proof)).toMatchObject({ code: 0 });
      const ledger = join(user.temporary, 'ledger.ndjson');
      expect(await baton('ledger', 'export', '-o', ledger)).toMatchObject({ code: 0 });
      const told = entriesIn(ledger);
      const of = (type: string) => told.filter((each) => each.type === type).map(({ data }) => data);
      expect(of('CheckFinished').map(({ outcome }) => outcome)).toEqual(['passed', 'passed']);
      expect(of('MergeFinished')).toMatchObject([{ outcome: 'merged', merge_sha: git('rev-parse', 'main') }]);
      expect(of('ThoughtRecorded')).toHaveLength(2);
      // The refusal and the approval were tool calls of Claude Code, and a person was asked only without a sandbox.
      expect(of('VerdictUnproven')).toHaveLength(bubblewrap.works ? 0 : 1);
      expect(ran.asked).toHaveLength(bubblewrap.works ? 0 : 1);
      // Both reviewers have run the checks through Baton.
      expect(textOf(user.model.asked, 'reviewer').match(/"name":"test","passed":true/g)?.length).toBeGreaterThan(1);
      // Claude's usage is recorded for each of the five sessions.
      expect(of('SessionUsed').filter(({ output_tokens }) => Number(output_tokens) > 0).length).toBeGreaterThanOrEqual(
        5,
      );
      // The user's own settings are unchanged.
      expect(JSON.parse(claudeCase.settings(user))).toEqual({ model: 'opus', disableAllHooks: true });
    } finally {
      await baton('down');
    }
    expect(existsSync(join(user.stateDir, 'daemon.json'))).toBe(false);
    await until(() => findProcesses(user.stateDir).length === 0, 'nobody is left', 30_000);
  });
});

/** All text that the model received in the conversations of a role. */
function textOf(asked: readonly Asked[], role: string): string {
  return asked
    .filter((each) => roleIn(each) === role)
    .map(textIn)
    .join('\n');
}
