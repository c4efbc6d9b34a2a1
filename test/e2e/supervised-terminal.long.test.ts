import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { BATON } from '../package/where.ts';
import { ASKED, ENDED, Shell } from '../processes/shell.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

const WORDS = {
  begin: 'Only what people write by hand',
  issue: 'Durations can be read back',
  requirement: 'parseDuration("1h 30m") is 5400000',
  ready: 'No new dependencies, please',
  implemented: 'parseDuration reads what formatDuration writes',
  output: 'expected 5400000, got 90000',
  fixed: 'An hour has sixty minutes',
  sentBack: 'Seconds are missing, people write them too',
  approved: 'Look at hostile input first',
  finding: 'An invalid duration returns NaN instead of an error',
  reviewed: 'It does what the issue asks',
};

const CHECK = `grep -q hours src/parse-duration.js || { echo '${WORDS.output}'; exit 1; }`;

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

/**
 * What a person sees at each checkpoint, what they must not see, and their answer. The int lane ends after the second
 * review question.
 */
const WALK: readonly Checkpoint[] = [
  {
    stage: 'requested',
    shows: ['Read durations back', 'DRAFT, next role issue-manager', 'baton task show W-00001'],
    note: WORDS.begin,
  },
  { stage: 'issue written', shows: [WORDS.requirement, WORDS.begin, /Cost so far\n +12,345 tokens/] },
  { stage: 'ready for work', shows: [WORDS.requirement, 'branch: feature/w-00001'], by: 'resolve', note: WORDS.ready },
  {
    stage: 'fix decision',
    shows: [
      'Check test failed at',
      WORDS.output,
      'reported in the handoff: files_changed 7, tests_added 2',
      'Measured by Baton: 1 file, 1 commit',
      /created +\+1 -0 +src\/parse-duration\.js\n +1 file, \+1 -0/,
      `summary: ${WORDS.implemented}`,
      'IMPLEMENTATION, next role fixer, 1 round back to the fixer, check test: failed at',
      'baton task diff W-00001',
      'baton task log W-00001',
    ],
    by: 'review',
  },
  {
    stage: 'ready for review',
    shows: [
      'check test: passed at',
      `- ${WORDS.fixed} (location: src/parse-duration.js:1)`,
      /[\d,]+ tokens, \$0\.(?:50|75), \d+s of work/,
    ],
    // The check of an earlier commit is no evidence about this one, and neither is an answer without a note.
    hides: [WORDS.output, 'Decision: Accept the issue'],
    choose: 'Send back with a note',
    note: WORDS.sentBack,
  },
  { stage: 'ready for review', shows: ['2 rounds back', WORDS.sentBack], note: WORDS.approved },
  { stage: 'fix decision', shows: [WORDS.finding, 'location: src/parse-duration.js:2, severity: critical'] },
  { stage: 'ready for review', shows: ['3 rounds back', WORDS.fixed] },
  { stage: 'merge', shows: ['READY_FOR_MERGE, next role validator', `summary: ${WORDS.reviewed}`, WORDS.approved] },
  { stage: 'merged', shows: ['COMPLETED, next role closer', `summary: ${WORDS.reviewed}`] },
];

interface Checkpoint {
  readonly stage: string;
  readonly shows: readonly (string | RegExp)[];
  readonly hides?: readonly string[];
  /** The command that sends the answer. */
  readonly by?: 'the run' | 'resolve' | 'review';
  /** The label of an option; default: the recommended one. */
  readonly choose?: string;
  readonly note?: string;
}

/** Each agent's session also checks that it got the notes: `test/processes/supervised-agents.mjs`. */
it('a person decides every checkpoint of a supervised workflow from the terminal alone', async () => {
  scene = supervised();
  await scene.start();
  await using person = await openShell(scene);
  let seen = await person.types('baton run issue "Read durations back" --mode supervised', ASKED);
  for (const checkpoint of WALK) seen = await decide(person, checkpoint, seen);
  expect(seen).toMatch(/\n\[0\] \$ $/);
}, 150_000);

/** Checks the question on the screen and answers it. Returns the next screen. */
async function decide(person: Shell, checkpoint: Checkpoint, seen: string): Promise<string> {
  const { stage, shows, hides = [], by = 'the run', choose, note = '' } = checkpoint;
  const asked = [...seen.matchAll(/^([0-9a-f]{8}) {2}Task needs attention: W-00001 .*? {2}\(/gm)].at(-1);
  const screen = seen.slice(asked?.index);
  // A session that lacks something has blocked the task, and the decision states what.
  expect(screen).toContain(`Task needs attention: W-00001 (${stage})  (`);
  for (const each of shows) expect(screen).toMatch(each);
  for (const each of hides) expect(screen).not.toContain(each);
  const label = choose === undefined ? /(\d)\. .* \(recommended\)$/m : new RegExp(`(\\d)\\. ${choose}`);
  const [id = '', option = ''] = [asked?.[1], label.exec(screen)?.[1]];
  if (by === 'the run') return answer(person, option, note, ASKED);
  // The person quits, looks at the details, answers with another command, and follows the run again.
  expect(await person.types('q')).toMatch(/baton run --follow W-00001\n\[3\] \$ $/);
  const look = by === 'resolve' ? `baton decision show ${id}` : 'baton task diff W-00001';
  expect(await person.types(look)).toContain(
    by === 'resolve' ? `Choose: baton decision resolve ${id} N` : '+// minutes',
  );
  if (by === 'review') await person.types('baton decision review', ASKED);
  const answered = await (by === 'review'
    ? answer(person, option, note)
    : person.types(`baton decision resolve ${id} ${option} -m "${note}"`));
  expect(answered).toContain(`Decision ${id}: approve`);
  return person.types('baton run --follow W-00001', ASKED);
}

async function answer(person: Shell, option: string, note: string, waitsFor = ENDED): Promise<string> {
  const question = await person.types(option, /: $/);
  if (question.includes('What must change')) {
    // The question is asked again.
    expect(await person.types('', ASKED)).toContain('Error: ');
    await person.types(option, /What must change: $/);
  }
  return person.types(note, waitsFor);
}

/** The sample repository with agents that check their input. The check is quick, and fails for the first change. */
function supervised(): WorkflowScene {
  const made = new WorkflowScene((toml) =>
    toml
      .replace('run = "node --test"', `run = '''${CHECK}'''`)
      .replace(/^build = .*\nsmoke = .*\n/m, '')
      .replace(/^validate = .*$/m, `validate = [{ name = "type_check", run = "true" }]`),
  );
  for (const [from, to] of [
    ['supervised-agents.mjs', 'play.mjs'],
    ['given.mjs', 'given.mjs'],
  ] as const)
    cpSync(join(import.meta.dirname, '../processes', from), join(made.repository, 'agents', to));
  const spent = '- use: { input: 12000, output: 345, cost: "$0.25" }\n';
  for (const role of ['issue-manager', 'implementer', 'reviewer', 'fixer'])
    made.put(`agents/${role}.yaml`, `${spent}- run: node agents/play.mjs ${role}\n- stop\n`);
  made.put('agents/words.json', JSON.stringify({ ...WORDS, person: `operator:${userInfo().username}` }));
  made.git('add', '--all');
  made.git('commit', '--quiet', '--message', 'agents that check what they are given');
  return made;
}

/** A shell with `baton` on the PATH. */
async function openShell({ repository: cwd, scene: { folder, env } }: WorkflowScene): Promise<Shell> {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'baton'), `#!/bin/sh\nexec '${process.execPath}' '${BATON}' "$@"\n`, { mode: 0o755 });
  return Shell.open({ cwd, env: { ...env, PATH: `${bin}:${env['PATH'] ?? ''}` } });
}
