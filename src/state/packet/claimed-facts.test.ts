import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Play } from '../../engine/play.cases.ts';
import { WorkflowPlay } from '../../engine/workflow.cases.ts';
import type { Events } from '../event.ts';
import * as runs from '../runs/say.cases.ts';
import * as say from '../say.cases.ts';
import * as flow from '../workflow/say.cases.ts';
import { type ClaimedFact, listClaimedFacts } from './claimed-facts.ts';
import { listAccounts, type SessionAccount } from './session-account.ts';

const HANDOFF = readFileSync('test/fixtures/handoff/implementer-agent-to-reviewer-agent.xml', 'utf8');

type Measured = Partial<Omit<Events['SessionMeasured'], 'task_id' | 'epoch' | 'session_id'>>;

/** An implementer's session in a workflow: its reports, its measurement, and the results of the checks. */
function played(
  measured: Measured = {},
  record = {},
  check: 'passed' | 'failed' = 'passed',
  violations: readonly string[] = [],
): SessionAccount {
  const play = new WorkflowPlay().turn('issue-manager').turn('prep');
  const { id } = play;
  const caller = play.claim('implementer');
  play.say(flow.prepare(id, 3));
  play.say(say.record({ task_id: id, tests_run: ['npm test'], files_changed: ['a.ts'], ...record }), caller);
  play.say(
    say.handoff({
      taskId: id,
      from: 'implementer-agent',
      to: 'reviewer-agent',
      senderRole: 'implementer',
      xml: HANDOFF,
    }),
    caller,
  );
  const seen = { ...flow.measuredAt(say.SHA), ...measured };
  play.say(
    say.exit('IMPLEMENTATION', 'completed', { eventId: 'e3', measured: seen, committed: true, violations }),
    caller,
  );
  if (violations.length === 0) play.check(check);
  const account = listAccounts(play.entries).find(({ epoch }) => epoch === 3);
  if (account === undefined) throw new Error('there is no such session');
  return account;
}

const fact = (account: SessionAccount, about: string): ClaimedFact | undefined =>
  listClaimedFacts(account).find((each) => each.about === about);

describe("a session's reports beside the measurements", () => {
  it('agrees if it is the same', () => {
    const account = played();
    expect(fact(account, 'files')).toEqual({
      about: 'files',
      said: '1 file: a.ts',
      measured: '1 file: a.ts',
      differs: false,
    });
    expect(fact(account, 'commit')).toMatchObject({ said: say.SHA, measured: say.SHA, differs: false });
    expect(fact(account, 'outcome')).toMatchObject({ said: 'completed', measured: 'completed', differs: false });
    expect(fact(account, 'tests')).toMatchObject({ measured: 'unit passed', differs: false });
    expect(fact(account, 'tests')?.said).toBe('npm test, tests_added 24, coverage 96%');
  });

  it.each<[string, SessionAccount, Partial<ClaimedFact>]>([
    ['files', played({ file_count: 2, files: [file('a.ts'), file('b.ts')] }), { measured: '2 files: a.ts, b.ts' }],
    [
      'files',
      played({}, { files_changed: ['a.ts', 'c.ts'] }),
      { said: '2 files: a.ts, c.ts', measured: '1 file: a.ts' },
    ],
    ['files', played({ file_count: 900 }), { measured: '900 files: a.ts and 899 more' }],
    ['files in the handoff', played(), { said: '12', measured: '1' }],
    ['commits', played(), { said: '2', measured: '1' }],
    ['commit', played({}, { commit_sha: 'b'.repeat(40) }), { said: 'b'.repeat(40), measured: say.SHA }],
    ['tests', played({}, {}, 'failed'), { measured: 'unit failed (exit code 1)' }],
    [
      'new dependencies',
      played({ new_dependencies: ['npm left-pad'], broken: ['no_new_deps'] }),
      { said: null, measured: 'npm left-pad' },
    ],
  ])('differs in the %s', (about, account, expected) => {
    expect(fact(account, about)).toMatchObject({ ...expected, differs: true });
  });

  it('names a new dependency that was allowed, and omits what neither has', () => {
    expect(fact(played({ new_dependencies: ['npm left-pad'] }), 'new dependencies')).toMatchObject({ differs: false });
    expect(fact(played(), 'new dependencies')).toBeUndefined();
    expect(fact(played(), 'rules of the mission')).toBeUndefined();
  });

  it('differs in the outcome if the measurement contradicts it', () => {
    const violations = ['max_files: 3 files differ from the base, 1 allowed'];
    const account = played({ broken: ['max_files'] }, {}, 'passed', violations);
    expect(fact(account, 'outcome')).toMatchObject({ said: 'completed', measured: 'error', differs: true });
    expect(fact(account, 'rules of the mission')).toMatchObject({ measured: violations[0], differs: true });
  });

  it('is not measured while the session works', () => {
    const play = new WorkflowPlay().turn('issue-manager').turn('prep');
    const caller = play.claim('implementer');
    play.say(say.record({ task_id: play.id, files_changed: ['a.ts'] }), caller);
    const account = listAccounts(play.entries).at(-1);
    expect(account).toMatchObject({ epoch: 3, role: 'implementer', end: null, measured: null });
    expect(account && fact(account, 'files')).toMatchObject({ said: '1 file: a.ts', measured: null, differs: false });
  });
});

describe('the account of a session', () => {
  it('has its mission, its messages and what it owed at each blocked stop', () => {
    const plan = runs.agentPlan({ name: 'builder', role: 'implementer', prompt: 'Build it.', requires: ['exit'] });
    const play = new Play();
    play.order(runs.configure([{ name: 'builders', concurrency: 1, plan: { kind: 'agent', agent: plan } }]));
    play.order(say.create('A'));
    const { agent_id: id } = play.newest('AgentRequested');
    play.say(runs.started(id)).say(runs.report({ kind: 'blocked', blocks: 1 }), runs.supervisor(id));
    play.order(runs.send(id, 'Use the other file.', 'm1')).say(runs.deliver('m1'));
    const [account] = listAccounts(play.entries);
    expect(account).toMatchObject({
      epoch: 1,
      agentIds: [id],
      prompt: 'Build it.',
      blocks: [{ owed: ['exit'] }],
      messages: [{ actor: 'operator:ann', text: 'Use the other file.', isDelivered: true }],
    });
  });

  it('is one for each claim, and keeps them apart', () => {
    const play = new WorkflowPlay().toReview();
    const accounts = listAccounts(play.entries);
    expect(accounts.map(({ role, end }) => [role, end?.how])).toEqual([
      ['issue-manager', 'completed'],
      ['prep', 'completed'],
      ['implementer', 'completed'],
    ]);
    expect(accounts.map(({ handoff }) => handoff?.from)).toEqual(['issue-manager', 'prep-agent', 'implementer-agent']);
    expect(accounts.map(({ checks }) => checks.length)).toEqual([0, 0, 1]);
  });
});

function file(path: string) {
  return { path, action: 'modified' };
}
