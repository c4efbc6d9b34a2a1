import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

const REPLACED = ['prep', 'validator', 'closer'] as const;

/**
 * The sample with agents even in the roles that Baton plays itself; each tries to complete its phase before it has
 * worked.
 */
function withAgentsEverywhere(): WorkflowScene {
  const made = new WorkflowScene(
    (toml) =>
      `${toml}\n${REPLACED.map((role) => `[agents.${role}]\nrun = "scripted agents/${role}.yaml"\nrole = "${role}"\nrequires = ["handoff", "exit"]\n`).join('\n')}`,
  );
  made.plays('prep', `handOn('implementer-agent', 'ready', {});`);
  made.plays('validator', `handOn('closer-agent', 'passed', {});`);
  made.plays(
    'closer',
    `const form = '.baton/session/workflow-complete.xml'; writeFileSync(form, readFileSync(form, 'utf8').replaceAll('FILL IN', 'closed')); baton('handoff', 'send', form); baton('emit', 'exit', EXIT);`,
  );
  made.edit('agents/play.mjs', (text) =>
    text.replace('const roles = {', `const EXIT = tryToLeave();\n\nconst roles = {`).concat(TRY_TO_LEAVE),
  );
  made.shareNotes();
  made.git('commit', '--quiet', '--all', '--message', 'hasty');
  return made;
}

/** Signals completion, records Baton's answer, and continues. */
const TRY_TO_LEAVE = `
import { spawnSync } from 'node:child_process';
function tryToLeave() {
  const phase_completed = /Phase: (\\w+)/.exec(readTask())[1];
  const exit = JSON.stringify({ protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed, exit_reason: 'completed' });
  if (process.argv[2] === 'implement') return exit;
  const { stderr } = spawnSync('baton', ['emit', 'exit', exit], { encoding: 'utf8' });
  appendFileSync(process.env.NOTES + '/tries', [process.argv[2], phase_completed, stderr.split('\\n')[0]].join(' | ') + '\\n');
  return exit;
}
`;

describe('the table of the built-in workflow', () => {
  it(
    'holds for each role: its phase, its owed messages and its end; and each may be an agent',
    { timeout: 150_000 },
    async () => {
      scene = withAgentsEverywhere();
      await scene.start();
      const id = await scene.run('issue', 'Read durations back');
      const after = await scene.run('issue', 'And then this', '--after', id);
      const [end] = await scene.settled([id], 120_000);
      expect(end).toMatchObject({ is: 'closed', because: null });
      // The next task begins while the closer is still working.
      const tries = readFileSync(join(scene.scene.folder, 'notes/tries'), 'utf8').split('\n');
      const isNext = (line: string, at: number): boolean => line === '' || (at > 0 && line.startsWith('issue-manager'));
      const all = 'missing result, thought_record, handoff';
      expect(tries.filter((line, at) => !isNext(line, at)).slice(0, 9)).toEqual(
        [
          ['issue-manager', 'DRAFT', 'missing handoff'],
          ['prep', 'DRAFT', 'missing handoff'],
          ['implementer', 'IMPLEMENTATION', all],
          ['fixer', 'IMPLEMENTATION', all],
          ['reviewer', 'REVIEW', 'missing result, handoff'],
          ['fixer', 'IMPLEMENTATION', all],
          ['reviewer', 'REVIEW', 'missing result, handoff'],
          ['validator', 'READY_FOR_MERGE', 'missing handoff'],
          ['closer', 'COMPLETED', 'missing handoff'],
        ].map(([role, phase, missing]) => `${role} | ${phase} | Error: cannot complete: ${missing} [missing]`),
      );
      // Each role claimed the task in the table's phase, and left it there.
      const story = await scene.story(id);
      const moves = story.filter(({ type }) => type === 'TaskClaimed' || type === 'PhaseMoved');
      const walk = moves.map(({ type, data }) => (type === 'TaskClaimed' ? `| ${String(data['role'])}:` : data['to']));
      expect(walk.join(' ').split('| ').slice(1)).toEqual([
        'issue-manager: DRAFT ',
        'prep: IMPLEMENTATION ',
        'implementer: CI_PENDING IMPLEMENTATION ',
        'fixer: CI_PENDING READY_FOR_REVIEW ',
        'reviewer: REVIEW IMPLEMENTATION ',
        'fixer: CI_PENDING READY_FOR_REVIEW ',
        'reviewer: REVIEW READY_FOR_MERGE ',
        'validator: COMPLETED ',
        'closer: COMPLETED',
      ]);
      // Baton performs the merge, and fills in what the validator could not know.
      const merged = story.find(({ type, data }) => type === 'HandoffDelivered' && data['to'] === 'closer-agent');
      expect(merged?.data['xml']).toContain(`<merge_sha>${scene.git('rev-parse', 'main')}</merge_sha>`);
      // The end of a task wakes those that waited for it.
      await until(
        async () => (await scene?.story(after))?.some(({ type }) => type === 'TaskClaimed') === true,
        'the next one begins',
        30_000,
      );
      const told = await scene.entries();
      const closed = told.findIndex(({ data }) => data['task_id'] === id && data['to'] === 'COMPLETED');
      const begun = told.findIndex(({ type, data }) => type === 'TaskClaimed' && data['task_id'] === after);
      expect(begun).toBeGreaterThan(closed);
    },
  );

  it('has a closer whose failure is reported to a person, and undoes nothing', { timeout: 120_000 }, async () => {
    scene = new WorkflowScene(
      (toml) => `${toml}\n[agents.closer]\nrun = "scripted agents/closer.yaml"\nrole = "closer"\n`,
    );
    const exit = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: 'COMPLETED', exit_reason: 'error' };
    writeFileSync(
      join(scene.repository, 'agents/closer.yaml'),
      `- run: baton emit exit '${JSON.stringify({ ...exit, notes: 'no net' })}'\n- stop\n`,
    );
    scene.git('add', '--all');
    scene.git('commit', '--quiet', '--message', 'a closer that fails');
    await scene.start();
    const id = await scene.run('issue', 'Read durations back');
    const [end] = await scene.settled([id], 100_000);
    expect(end).toMatchObject({ is: 'waits', phase: 'COMPLETED', because: expect.stringContaining('no net') });
    expect(scene.git('rev-parse', 'main')).toBe(end?.view.merge_sha);
  });
});
