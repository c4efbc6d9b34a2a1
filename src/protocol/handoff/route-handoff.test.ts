import { describe, expect, it } from 'vitest';
import { changed, fixture, valueOf, type Fixture } from './fixtures.cases.ts';
import { routeHandoff, type HandoffRoute } from './index.ts';

describe('the table of the specification', () => {
  it.each([
    ['issue-manager-to-prep-agent', 'DRAFT', 'prep'],
    ['prep-agent-to-implementer-agent', 'IMPLEMENTATION', 'implementer'],
    ['implementer-agent-to-reviewer-agent', 'CI_PENDING', 'reviewer'],
    ['ci-gate-to-fixer-agent', 'IMPLEMENTATION', 'fixer'],
    ['reviewer-agent-to-fixer-agent', 'IMPLEMENTATION', 'fixer'],
    ['reviewer-agent-to-validator-agent', 'READY_FOR_MERGE', 'validator'],
    ['fixer-agent-to-reviewer-agent', 'CI_PENDING', 'reviewer'],
    ['validator-agent-to-fixer-agent', 'IMPLEMENTATION', 'fixer'],
    ['validator-agent-to-closer-agent', 'COMPLETED', 'closer'],
    ['workflow-complete', 'COMPLETED', null],
  ] as const)('%s leads to %s, %s', (name, phase, next) => {
    expect(route(fixture(name))).toMatchObject({ outcome: 'proceeds', phase, next });
  });

  it('an error blocks the task, and the next turn is the sender’s', () => {
    const failed = { outcome: 'blocked', phase: 'BLOCKED', next: 'implementer' };
    expect(route(fixture('error'))).toMatchObject({ ...failed, retry_after_ms: [1_000, 2_000, 4_000] });
    expect(route(changed('error', '>true<', '>false<'))).toMatchObject({ ...failed, retry_after_ms: [] });
    expect(route(changed('error', '>implementer-agent<', '>somebody<'))).toMatchObject({ next: null });
  });
});

describe('the status', () => {
  const withStatus = (status: string, name: Fixture = 'prep-agent-to-implementer-agent') =>
    route(changed(name, />ready(?:-for-re-review)?</, `>${status}<`));

  it.each(['success', 'skipped'])('%s proceeds', (status) => {
    expect(withStatus(status)).toMatchObject({ outcome: 'proceeds', phase: 'IMPLEMENTATION' });
    expect(withStatus(status, 'fixer-agent-to-reviewer-agent')).toMatchObject({ phase: 'CI_PENDING' });
  });

  it('a missing status proceeds', () => {
    const silent = changed('prep-agent-to-implementer-agent', '<status>ready</status>', '');
    expect(route(silent)).toMatchObject({ outcome: 'proceeds', next: 'implementer' });
  });

  it.each(['failure', 'blocked'])('%s blocks, and the next turn is the sender’s', (status) => {
    const blocked = { outcome: 'blocked', phase: 'BLOCKED', next: 'prep', retry_after_ms: [] };
    expect(withStatus(status)).toMatchObject(blocked);
  });

  it('pending changes neither phase nor role', () => {
    expect(withStatus('pending')).toMatchObject({ outcome: 'waits', phase: null, next: null });
  });
});

describe('no edge', () => {
  it('the base form parses but has no route', () => {
    expect(routeHandoff(valueOf(fixture('base')))).toMatchObject({
      ok: false,
      problems: [
        {
          code: 'handoff/no-edge',
          message: 'No edge leads from source-agent-name to target-agent-name',
          line: null,
        },
      ],
    });
  });

  it('there is no edge from the reviewer to the closer', () => {
    const shortcut = changed('base', '>source-agent-name<', '>reviewer-agent<').replace(
      '>target-agent-name<',
      '>closer-agent<',
    );
    expect(routeHandoff(valueOf(shortcut))).toMatchObject({
      problems: [
        {
          hint: 'From reviewer-agent work goes to fixer-agent or validator-agent. Errors go to orchestrator.',
        },
      ],
    });
  });
});

function route(text: string): HandoffRoute {
  const routed = routeHandoff(valueOf(text));
  if (!routed.ok) throw new Error(routed.problems[0].message);
  return routed.value;
}
