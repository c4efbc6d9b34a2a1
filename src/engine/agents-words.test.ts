import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as say from '../state/say.cases.ts';
import { SHA, system } from '../state/say.cases.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

/** Texts from which rules once derived a meaning. */
const LOADED = [
  'decision: x',
  'cancelled: x',
  'merge refused: x',
  'merged as abc',
  'waived: x',
  'max_files: 9',
  'max_files: 9; decision: x',
  'Writeback required: thought_record must be recorded before task completion.',
];

const PULLS = { pulls: { repository: 'owner/name', remote: 'origin', draft: false } };

/** A fixer's session, on a task whose pull request is open. */
class Published extends WorkflowPlay {
  constructor() {
    super(PULLS);
    this.turn('issue-manager').turn('prep').turn('implementer', { head: SHA });
    this.say(flow.publishPull(this.the('PullRequestRequested').pull_id)).check('failed');
  }

  override claim(role: string, holder = role): ReturnType<WorkflowPlay['claim']> {
    const caller = super.claim(role, holder);
    return (this.say(flow.prepare(this.id, this.task.epoch), system), caller);
  }
}

/** Every way for a session to block its task with its own text. */
const WAYS: Readonly<Record<string, (play: Published, words: string) => Published>> = {
  'the notes of an exit signal that says blocked': (play, notes) => {
    const caller = play.claim('fixer');
    return play.say(say.exit('IMPLEMENTATION', 'blocked', { eventId: 'e', notes }), caller);
  },
  'the notes of an exit signal that says error': (play, notes) => {
    const caller = play.claim('fixer');
    return play.say(say.exit('IMPLEMENTATION', 'error', { eventId: 'e', notes }), caller);
  },
  'the notes of task_update': (play, notes) => {
    const caller = play.claim('fixer');
    return play.say(say.update('blocked', { task_id: play.id, notes }), caller);
  },
  'the message of an error handoff': (play, words) => {
    const caller = play.claim('fixer');
    const xml = flow.failure(false).replace('no answer', words);
    const to = { to: 'orchestrator', phase: 'BLOCKED', nextRole: 'fixer' } as const;
    play.say(say.handoff({ taskId: play.id, from: 'fixer-agent', senderRole: 'fixer', ...to, xml }), caller);
    return play.say(say.exit('IMPLEMENTATION', 'error', { eventId: 'e', notes: words }), caller);
  },
  'what an agent did, as measured': (play, words) => {
    const caller = play.claim('fixer');
    play.say(say.record({ task_id: play.id }), caller);
    play.say(say.handoff({ taskId: play.id, from: 'fixer-agent', senderRole: 'fixer' }), caller);
    const violations = [words];
    const measured = { ...flow.measuredAt(SHA), broken: ['files_modified'] as const };
    const exit = { eventId: 'e', measured, committed: true, violations };
    return play.say(say.exit('IMPLEMENTATION', 'completed', exit), caller);
  },
};

describe.each(Object.entries(WAYS))('a text of an agent in %s', (_, block) => {
  it.each(LOADED)('has no meaning to a rule: %s', (words) => {
    const play = block(new Published(), words);
    expect(play.stands()[0]).toBe('BLOCKED');
    expect(play.openDecisions(), 'a person is asked').toEqual([`Task needs attention: ${play.id} is blocked`]);
    expect(play.decision().source).toBe('error');
    expect(play.owed('NotificationRequested'), 'and notified').not.toEqual([]);
    expect(play.task.flow.pull, 'the pull request stays open').toMatchObject({ number: 7, isClosed: false });
    expect(play.owed('PullRequestCloseRequested')).toEqual([]);
    expect(play.task.blocked).not.toHaveProperty('isCancelled');
    expect(play.task.flow.unfit, 'only a measured constraint makes work unfit').toBeNull();
    play.checkReplay();
  });
});

describe('the same text from Baton itself', () => {
  it('closes the pull request when an operator cancels', () => {
    const play = new Published();
    play.order(say.operate('cancel', 'not wanted', play.id));
    expect(play.the('PullRequestCloseRequested')).toMatchObject({ number: 7 });
    expect(play.openDecisions()).toEqual([]);
    expect(play.task.blocked).toMatchObject({ isCancelled: true });
  });

  it('closes nothing when an operator only reports the task blocked', () => {
    const play = new Published();
    play.order(say.update('blocked', { task_id: play.id, notes: 'cancelled: x' }));
    expect(play.owed('PullRequestCloseRequested')).toEqual([]);
    expect(play.task.blocked).not.toHaveProperty('isCancelled');
  });
});

describe('the source of the rules', () => {
  /**
   * Fields with text of people or agents. A rule may only test whether such a text is present; anything more needs its
   * own typed field.
   */
  const TEXT = '(?:reason|notes|message|words|why|output|summary|context|violations?|text)';
  const READS = new RegExp(
    String.raw`\b${TEXT}\??\.(?:startsWith|endsWith|includes|match|search|indexOf|lastIndexOf|split|substring|charAt)\(|/[a-z]*\.(?:test|exec)\([^)]*\b${TEXT}\)|\b${TEXT} (?:===|!==) (?:[A-Z]|['"\x60](?!['"\x60]))`,
  );
  const folder = join(import.meta.dirname, '..');
  const files = globSync('{state,engine,daemon,effects}/**/*.ts', { cwd: folder }).filter(
    (file) => !/\.(?:test|cases)\.ts$/.test(file),
  );

  /** Lines that read a text which no agent wrote, or read one only to display it. */
  const KNOWN: readonly (readonly [file: string, part: string])[] = [
    // Entries from before typed causes: the only place that derives meaning from text.
    ['state/recorded-event.ts', "typeof reason === 'string'"],
    ['state/recorded-event.ts', 'text.startsWith(each.reason)'],
    ['state/recorded-event.ts', 'text.startsWith(`${kind}: `)'],
    // The decision's own text, shown again with the newest move first.
    ['engine/main-moved.ts', "open.context.split('\\n\\n')"],
    // A setting of the daemon, and the kernel's table of limits.
    ['daemon/settings.ts', '.test(text)'],
    ['daemon/http/connections.ts', 'Max open files'],
    // A commit id in a file of git.
    ['effects/travel/travel-push.ts', '.test(text)'],
    // Distinguishes two errors by the message of Baton's own git calls.
    ['daemon/operations/records.ts', 'problem.message.startsWith(`commit '],
    ['state/import-tasks.ts', 'refusal.message.includes(id)'],
    // GitHub's answer to a merge, which has no error code.
    ['effects/merges/merge-pull.ts', 'problem.message)'],
    ['effects/merges/merge-pull.ts', "message.split('\\n')"],
    // Display only: a text quoted in the question is not repeated below it, and a long question is shortened.
    ['state/packet/evidence.ts', 'context.includes(text)'],
    ['state/packet/statements-of.ts', "context.trim().split('\\n')"],
    // Display only: a violation with its own comparison line is not listed again.
    ['state/packet/claimed-facts.ts', 'violation.startsWith(`${kind}: `)'],
    // A message contained in the next one is not sent twice.
    ['effects/agents/launch-agent.ts', 'message?.includes(text)'],
    // A folder of the devcontainer, for git.
    ['effects/sandbox/choose-image.ts', "build.context === '.'"],
  ];
  const isKnown = (file: string, line: string): boolean =>
    KNOWN.some(([known, part]) => file === known && line.includes(part));

  it('derives no meaning from text', () => {
    expect(files.length).toBeGreaterThan(100);
    const found = files.flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .flatMap((line, at) => (READS.test(line) && !isKnown(file, line) ? [`${file}:${at + 1} ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });

  it.each([
    `const isMerge = data.reason.startsWith('merge refused: ');`,
    `return /^(?:max_files|no_git_commit): /.test(violation);`,
    `type: reason === WRITEBACK_REQUIRED ? 'writeback' : 'merged_tree',`,
    `if (signal.notes?.includes('waived')) return [];`,
    `const [kind] = reason.split(': ');`,
  ])('is searched for what stood there before: %s', (line) => {
    expect(READS.test(line)).toBe(true);
  });
});
