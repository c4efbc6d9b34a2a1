import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { BATON } from '../package/where.ts';
import { TestEditor } from '../processes/editor.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';
import { inLongLane } from '../lanes.ts';

let scene: WorkflowScene | undefined;
let editor: TestEditor | undefined;
afterEach(async () => {
  await editor?.quit();
  await scene?.end();
  [scene, editor] = [undefined, undefined];
});

/** The sample repository, a daemon, and an editor connected to `baton acp`. */
async function open() {
  const walked = new WorkflowScene();
  scene = walked;
  await walked.start();
  const opened = new TestEditor(walked.scene.env);
  editor = opened;
  return { walked, opened, about: await opened.initialize() };
}

describe('baton acp, driven by the client of the SDK', () => {
  inLongLane(() => {
    it('starts a workflow, shows it, asks before it continues, and cancels it', { timeout: 60_000 }, async () => {
      const { walked, opened, about } = await open();
      expect(about).toMatchObject({ agentInfo: { name: 'baton' }, agentCapabilities: { loadSession: true } });
      const { sessionId, modes } = await opened.newSession(join(walked.repository, 'src'));
      expect(modes).toMatchObject({ currentModeId: 'autonomous' });
      await opened.setMode(sessionId, 'semi');

      // Starts a workflow and follows it.
      const turn = opened.prompt(sessionId, 'Read durations back\nThe format is that of formatDuration.');
      await opened.until('it asks whether to start', () => opened.asked.length === 1);
      expect(opened.plan).toEqual([
        'completed issue-manager',
        'completed prep',
        'in_progress implementer: waiting for a person',
        ...['ci', 'reviewer', 'validator', 'merge', 'closer'].map((stage) => `pending ${stage}`),
      ]);
      expect(await walked.ask('task_get', { task_id: 'W-00001' })).toMatchObject({
        title: 'Read durations back',
        description: 'The format is that of formatDuration.',
      });

      // Approves: the options are the same as in a terminal.
      const { decisions } = await walked.ask<{ decisions: { options: { n: number; label: string }[] }[] }>(
        'decision_list',
      );
      expect(opened.asked[0]?.options.map(({ name }) => name.replace(/ \(.*/, ''))).toEqual(
        decisions[0]?.options.map(({ n, label }) => `${n}. ${label}`),
      );
      expect(opened.asked[0]).toMatchObject({ toolCall: { content: [{ type: 'content' }] } });
      opened.choose('1');
      await opened.until('it asks about the fix', () => opened.asked.length === 2);
      expect(opened.calls).toContainEqual(
        expect.objectContaining({ title: 'implementer', kind: 'edit', status: 'completed' }),
      );
      const hasDiff = () => opened.calls.some(({ kind, content }) => kind === 'edit' && content?.[0]?.type === 'diff');
      await opened.until('its diff is there', hasDiff);
      const { content } = opened.calls.find(({ title }) => title === 'implementer') ?? {};
      expect(content).toContainEqual(
        expect.objectContaining({
          type: 'diff',
          path: join(walked.repository, 'src/parse-duration.js'),
          oldText: null,
        }),
      );
      expect(JSON.stringify(opened.calls.find(({ title }) => title.startsWith('ci')))).toContain('exit code 1');

      // A prompt during the workflow is a note; the daemon may restart; another client may answer.
      expect(await opened.prompt(sessionId, 'Hours have 3600 seconds.')).toEqual({ stopReason: 'end_turn' });
      await expect(opened.prompt(sessionId, '/issue Another one')).rejects.toThrow(
        'can start nothing else until the run ends',
      );
      await walked.stop();
      await opened.until('it notices', () => opened.said.includes('Updates continue when the daemon answers.'));
      await walked.start();
      await opened.until('it is back', () => opened.said.includes('The daemon answers again.'));
      await walked.resolveAll('W-00001');
      await opened.until('the question is withdrawn', () => opened.withdrawn === 1);
      await opened.until('the fixer works', () => opened.plan.includes('in_progress fixer: running'));

      // Cancels the workflow.
      await opened.cancel(sessionId);
      expect(await turn).toEqual({ stopReason: 'cancelled' });
      expect(await walked.ask('task_view', { task_id: 'W-00001' })).toMatchObject({ activity: 'cancelled' });
      expect(opened.calls.filter(({ status }) => status === 'in_progress' || status === 'pending')).toEqual([]);
      const entries = await walked.entries();
      const by = (type: string) => entries.filter((each) => each.type === type).map(({ actor }) => actor);
      expect(by('WorkflowStarted')).toEqual([expect.stringMatching(/^operator:.+\/acp-test-editor-1-[0-9a-f]{8}$/)]);
      expect(by('DecisionResolved')).toEqual([by('WorkflowStarted')[0], expect.not.stringContaining('/')]);
      expect(entries.find(({ data }) => data['cause'] === 'cancelled')?.data['reason']).toContain(
        'cancelled in the editor',
      );
    });
  });

  it('does nothing more after its key was revoked', { timeout: 60_000 }, async () => {
    const { walked, opened } = await open();
    const { sessionId } = await opened.newSession(walked.repository);
    await opened.prompt(sessionId, '/task Tidy up');
    expect(opened.said).toContain('Added tidy-up');
    expect(await walked.ask('page_keys')).toMatchObject({ keys: [{ name: 'acp-test-editor-1' }] });
    await walked.ask('page_key_revoke', { name: 'acp-test-editor-1' });
    await expect(opened.prompt(sessionId, '/task One more')).rejects.toThrow(/the key acp-test-editor-1 was revoked/);
    const { tasks } = await walked.ask<{ tasks: { id: string }[] }>('task_list');
    expect(tasks.map(({ id }) => id)).toEqual(['tidy-up']);
    expect(await opened.quit()).toBe(0);
  });

  it('refuses a folder without a repository, with a hint', { timeout: 60_000 }, async () => {
    const { walked, opened } = await open();
    await expect(opened.newSession(walked.scene.folder)).rejects.toThrow('git');
    await expect(opened.prompt('no-session', 'x')).rejects.toThrow('there is no editor session no-session');
  });
});

describe('baton acp inside a session', () => {
  const start = (walked: WorkflowScene, command: string, env: object) => {
    mkdirSync(join(walked.stateDir, 'agents/a1'), { recursive: true });
    // The shell remains the parent process, because its environment is the session's.
    return spawnSync('/bin/sh', ['-c', `${command} "$0" "$1" acp; exit $?`, process.execPath, BATON], {
      env: { ...walked.scene.env, BATON_AGENT_ID: 'a1', ...env },
      encoding: 'utf8',
      input: '',
    });
  };

  it.each([
    ['with its variables', '', {}],
    ['without them', 'env -u BATON_AGENT_ID', {}],
    ['with the token of a session', 'env -u BATON_AGENT_ID', { BATON_TOKEN: 's.x.y' }],
  ])('does not start %s', (_how, command, env) => {
    scene = new WorkflowScene();
    const { status, stdout, stderr } = start(scene, command, env);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Error: this process runs inside the session of agent a1');
  });
});
