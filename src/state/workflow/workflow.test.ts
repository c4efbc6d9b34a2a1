import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExitSignal } from '../../protocol/exit-signal/exit-signal-shape.ts';
import { parseExitSignal } from '../../protocol/exit-signal/exit-signal.ts';
import { parseHandoff, routeHandoff } from '../../protocol/handoff/index.ts';
import { emptyTask } from '../say.cases.ts';
import type { Task } from '../tasks/task.ts';
import { findingsIn } from './evolve-flow.ts';
import { NO_FLOW } from './flow.ts';
import { addMergeResult, fixerHandoff, taskUrls } from './gate-handoffs.ts';
import { changesRequested, validated } from './say.cases.ts';

const task = { ...emptyTask, id: 'A', n: 7 };

describe('what a gate sends to the fixer', () => {
  it('is a handoff like any other, whatever a program printed', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 5000 }),
        fc.constantFrom('ci-gate', 'validator-agent'),
        (text, from) => {
          const { xml } = fixerHandoff(task, from, [{ type: 'unit', text }], 'h1');
          const parsed = parseHandoff(xml);
          if (!parsed.ok) throw new Error(parsed.problems[0].message);
          const route = routeHandoff(parsed.value);
          expect(route.ok && route.value.phase).toBe('IMPLEMENTATION');
          expect(parsed.value.issue_number).toBe('7');
        },
      ),
    );
  });

  it('keeps the end of the log, without colours', () => {
    const { xml } = fixerHandoff(
      task,
      'ci-gate',
      [{ type: 'unit', text: `${'x'.repeat(9000)}\u001B[31mthe end\u001B[0m` }],
      'h1',
    );
    expect(xml).toContain('the end');
    expect(xml).not.toContain('[31m');
    expect(xml.length).toBeLessThan(5000);
    expect(fixerHandoff(task, 'ci-gate', [{ type: 'unit', text: ' \u0000 ' }], 'h1').xml).toContain('no output');
  });

  it('has findings that are recognised when they recur', () => {
    const failures = [{ type: 'unit', text: 'broken' }];
    expect(findingsIn(fixerHandoff(task, 'ci-gate', failures, 'h1').xml)).toEqual(['unit broken']);
    expect(findingsIn(changesRequested('no test', 'b.ts:2'))).toEqual(['b.ts:2 no test']);
    expect(findingsIn('<nothing/>')).toEqual([]);
  });
});

describe('a handoff to the closer', () => {
  const handoff = {
    handoff_id: 'h1',
    task_id: 'A',
    from: 'validator-agent',
    to: 'closer-agent',
    phase: 'COMPLETED',
    next_role: 'closer',
    xml: validated,
  } as const;

  it('is delivered with the result of the merge', () => {
    const parsed = parseHandoff(addMergeResult(handoff, 'a'.repeat(40), 'squash').xml);
    expect(parsed.ok && parsed.value).toMatchObject({
      merge_status: 'merged',
      merge_sha: 'a'.repeat(40),
      merge_strategy: 'squash',
    });
    expect(addMergeResult({ ...handoff, xml: 'rubbish' }, 'a', 'merge').xml).toBe('rubbish');
  });
});

describe('addresses', () => {
  const naming = (pr_url: string): Task['flow'] => ({
    ...NO_FLOW,
    handoff: {
      handoff_id: 'h',
      task_id: 'A',
      from: 'reviewer-agent',
      to: 'fixer-agent',
      phase: null,
      next_role: null,
      xml: changesRequested().replace('https://example.org/pull/1', pr_url),
    },
  });

  it('name a pull request that an exit signal accepts, for every task', () => {
    const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
    fc.assert(
      fc.property(id, fc.nat(), fc.webUrl(), (taskId, n, said) => {
        for (const flow of [NO_FLOW, naming(said.replaceAll(/[&<>"']/g, ''))]) {
          const { pr_url } = taskUrls({ ...task, id: taskId, n, flow });
          const signal = createExitSignal('IMPLEMENTATION', 'completed').withPrUrl(pr_url);
          expect(parseExitSignal(JSON.stringify(signal))).toMatchObject({ ok: true });
        }
      }),
    );
  });

  it.each(['http://baton.localhost/tasks/A/pull', 'https://example.org/$HOME', 'https://example.org/a;b'])(
    'do not pass on one that an exit signal refuses: %s',
    (url) => {
      expect(taskUrls({ ...task, flow: naming(url) }).pr_url).toBe('https://baton.invalid/tasks/A/pull');
    },
  );

  it("are this Baton's, or those in a handoff", () => {
    expect(taskUrls(task)).toEqual({
      issue_url: 'https://baton.invalid/tasks/A',
      issue_number: '7',
      pr_url: 'https://baton.invalid/tasks/A/pull',
      pr_number: '7',
    });
    expect(taskUrls({ ...task, flow: naming('https://example.org/pull/1') })).toMatchObject({
      pr_url: 'https://example.org/pull/1',
      pr_number: '1',
    });
  });
});
