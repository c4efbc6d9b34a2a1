import { afterEach, expect, it } from 'vitest';
import type { Told } from '../../src/daemon/runs.cases.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';
import { runCli } from '../run-cli.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

const HONEST = ['one', 'two', 'three', 'four'];
const EVIL = 'evil';
const MAX_FILES = 3;

/**
 * Every task appends a line to one file, so that all merges but the first conflict. Agents list only their own edits.
 * The fixer of one task adds four files in its merge commit, and lists none of them.
 */
function oneFile(): WorkflowScene {
  const made = new WorkflowScene((toml) =>
    toml
      .replace(/smoke = .*\n/, '')
      .replace('[merge]', `[limits]\nmax_files = ${MAX_FILES}\nno_new_deps = true\n\n[merge]`),
  );
  made.edit('agents/hand-on.mjs', (text) => text.replace('const files = git(', 'const files = values.files ?? git('));
  made.put('NOTES.md', '# Notes\n');
  made.plays('issue-manager', `handOn('prep-agent', 'A line', { type: 'feature', priority: 'high' });`);
  made.plays('implementer', `handOn('reviewer-agent', 'A line', { tests_added: '0' });`);
  made.plays(
    'implement',
    `const part = /Add (\\w+)/.exec(readTask())[1];
     appendFileSync('NOTES.md', part + '\\n');
     commit('feat: ' + part);`,
  );
  made.plays('reviewer', `handOn('validator-agent', 'Fine', {});`);
  made.plays(
    'fixer',
    `const files = ['M\\tNOTES.md'];
     try {
       git('-c', 'user.name=a', '-c', 'user.email=a@a', 'merge', '--quiet', '--no-edit', 'main');
       appendFileSync('NOTES.md', 'again\\n');
       commit('fix: a line');
     } catch {
       const lines = readFileSync('NOTES.md', 'utf8').split('\\n');
       writeFileSync('NOTES.md', lines.filter((line) => !/^(<{7}|={7}|>{7})/.test(line)).join('\\n'));
       if (readTask().includes('Add ${EVIL}')) for (const name of 'abcd') writeFileSync(name + '.txt', name);
       commit('merge main');
     }
     handOn('reviewer-agent', 'Both lines', { location: 'NOTES.md:1', files });`,
  );
  return made;
}

const violationsOf = (entries: readonly Told[]): unknown[] =>
  entries.flatMap(({ type, data }) => (type === 'SessionMeasured' ? (data['violations'] as unknown[]) : []));

it(
  'four tasks on one file merge, a dependency of a person charges nobody, an evil merge is charged',
  { timeout: 900_000 },
  async () => {
    const world = (scene = oneFile());
    await world.start();
    const ids: string[] = [];
    for (const part of [...HONEST, EVIL]) ids.push(await world.run('issue', `Add ${part}`, '--mode', 'semi'));
    for (const id of ids) await resolveUntil(id, (because) => because?.includes('(merge)') === true);
    world.put(
      'package.json',
      JSON.stringify({ name: 'sample', type: 'module', dependencies: { 'left-pad': '1.3.0' } }),
    );
    for (let i = 0; i < 5; i += 1) world.put(`person-${i}.txt`, 'by a person\n');
    world.git('add', '--all');
    world.git('commit', '--quiet', '--message', 'a dependency');
    const ofPerson = world.git('rev-parse', 'main');

    const evil = ids.at(-1) ?? '';
    for (const id of ids.slice(0, -1)) {
      await resolveUntil(id, () => false);
      expect(violationsOf(await world.story(id))).toEqual([]);
    }
    expect(world.git('show', 'main:NOTES.md').split('\n').toSorted()).toEqual(['# Notes', ...HONEST].toSorted());
    const fixed = (await world.entries()).filter(
      ({ type, data }) => type === 'SessionMeasured' && 'main' in data && data['main'] !== data['base'],
    );
    // The first merge has no conflict, and a session that judges changes nothing.
    const changed = fixed.filter(({ data }) => data['file_count'] === 1);
    expect(changed.length).toBeGreaterThanOrEqual(HONEST.length - 1);
    for (const { data } of fixed)
      expect(data).toMatchObject({ file_count: expect.toSatisfy((count) => count <= 1), new_dependencies: [] });
    for (const { data } of changed)
      expect(world.git('merge-base', ofPerson, String(data['main'])), 'it names a main with the dependency').toBe(
        ofPerson,
      );

    await resolveUntil(evil, (because) => because?.includes('is blocked') === true);
    expect(violationsOf(await world.story(evil))).toEqual([
      `max_files: 5 files differ from the base, ${MAX_FILES} allowed`,
      'files_modified: changed but not listed: a.txt, b.txt, c.txt, d.txt',
    ]);
    const { because } = await world.standing(evil);
    expect(because).toContain(`baton task waive ${evil} max_files --reason TEXT`);

    world.edit('baton.toml', (toml) => toml.replace(`max_files = ${MAX_FILES}`, 'max_files = 10'));
    const baton = async (...argv: readonly string[]) =>
      runCli(argv, '', { env: world.scene.env, cwd: world.repository });
    const { working } = await world.ask<{ working: { sha256: string } }>('runbook_rules');
    const adopted = await baton('runbook', 'adopt', '--accept-rules', working.sha256);
    expect(adopted.out).toContain(`To continue it with these rules: baton task rules ${evil} --current\n`);
    expect((await world.standing(evil)).phase, 'an adoption moves nothing by itself').toBe('BLOCKED');
    expect((await baton('task', 'rules', evil, '--current')).out).toContain(`Continued: ${evil}.\n`);
    await resolveUntil(evil, (why) => why?.includes('(ready for review)') === true);
    expect(violationsOf(await world.story(evil)), 'the next session breaks nothing').toHaveLength(2);
    expect((await baton('ledger', 'verify')).code).toBe(0);
  },
);

/** Gives the first answer to each question about the workflow, until it is closed or asks the expected one. */
async function resolveUntil(id: string, isExpected: (because: string | null) => boolean): Promise<void> {
  const asked: (string | null)[] = [];
  while (asked.length < MOST_QUESTIONS) {
    const end = await scene?.ended(id, 120_000);
    if (end === undefined || end.is === 'closed' || isExpected(end.because)) return;
    asked.push(end.because);
    await scene?.resolveAll(id);
  }
  throw new Error(`${id} asks without end: ${asked.slice(-3).join('; ')}`);
}

/** More than the checkpoints of two rounds. */
const MOST_QUESTIONS = 12;
