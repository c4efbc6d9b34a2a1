import { afterEach, expect, it } from 'vitest';
import { TestEditor } from '../processes/editor.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';

const editors: TestEditor[] = [];
let scene: WorkflowScene | undefined;
afterEach(async () => {
  for (const editor of editors.splice(0)) await editor.quit();
  await scene?.end();
  scene = undefined;
});

function startEditor(walked: WorkflowScene): TestEditor {
  const editor = new TestEditor(walked.scene.env);
  editors.push(editor);
  return editor;
}

it(
  'goes from a prompt to a merge, with a person in the editor; another editor loads it',
  { timeout: 180_000 },
  async () => {
    const walked = new WorkflowScene();
    scene = walked;
    await walked.start();
    const editor = startEditor(walked);
    await editor.initialize('Zed');
    const { sessionId } = await editor.newSession(walked.repository);
    await editor.setMode(sessionId, 'semi');

    // The first review question is answered with a note, which an editor's button cannot send.
    let isSentBack = false;
    editor.onAsk = ({ options, toolCall }) => {
      const back = options.find(({ name }) => name.includes('Send back with a note'));
      if (isSentBack || back === undefined || !toolCall.title?.includes('ready for review')) return '1';
      isSentBack = true;
      return back.optionId;
    };
    expect(await editor.prompt(sessionId, 'Read durations back')).toEqual({ stopReason: 'end_turn' });
    expect(isSentBack).toBe(true);
    expect(editor.said).toContain('Write the note as your next message');
    expect(await editor.prompt(sessionId, 'Name the limits in a comment.')).toEqual({ stopReason: 'end_turn' });

    const { merge_sha: sha } = await walked.ask<{ merge_sha: string }>('task_view', { task_id: 'W-00001' });
    expect(editor.said).toContain(`W-00001 is done: merged as ${sha.slice(0, 12)}.`);
    expect(editor.said).toContain('Proof: baton ledger prove W-00001');
    expect(editor.said).toMatch(/Cost: 0 tokens, \$0\.00, \S+ of work/);
    expect(editor.plan.every((entry) => entry.startsWith('completed '))).toBe(true);
    const answers = (await walked.entries()).filter(({ type }) => type === 'DecisionResolved');
    expect(answers.map(({ data }) => data['message'])).toContain('Name the limits in a comment.');
    expect(answers.every(({ actor }) => /\/acp-zed-1-[0-9a-f]{8}$/.test(actor))).toBe(true);

    const other = startEditor(walked);
    await other.initialize('emacs');
    const { sessions } = await other.listSessions(walked.repository);
    expect(sessions).toMatchObject([{ sessionId, title: 'Read durations back', cwd: walked.repository }]);
    await other.loadSession(sessionId, walked.repository);
    await other.until('it shows the end', () => other.said.includes(`merged as ${sha.slice(0, 12)}`));
    expect(other.plan).toEqual(editor.plan);
  },
);

it('runs a command of the runbook, and shows its steps', { timeout: 60_000 }, async () => {
  const walked = new WorkflowScene(
    (toml) => `${toml}\n[commands.hello]\nargs = "<name>"\nrun = "echo hello \${var.name}"\n`,
  );
  scene = walked;
  await walked.start();
  const editor = startEditor(walked);
  await editor.initialize();
  const { sessionId } = await editor.newSession(walked.repository);
  expect(await editor.prompt(sessionId, '/run hello "Ann B"')).toEqual({ stopReason: 'end_turn' });
  expect(editor.calls).toMatchObject([{ status: 'completed' }]);
  await editor.prompt(sessionId, '/status');
  expect(editor.said).toContain('```');
  await expect(editor.prompt(sessionId, '/run nothing')).rejects.toThrow('nothing');
});

it('asks again after an answer was undone elsewhere, and ends with its key', { timeout: 60_000 }, async () => {
  const walked = new WorkflowScene();
  scene = walked;
  await walked.start();
  const editor = startEditor(walked);
  await editor.initialize();
  const { sessionId } = await editor.newSession(walked.repository);
  await editor.setMode(sessionId, 'semi');
  const turn = Promise.allSettled([editor.prompt(sessionId, 'Read durations back')]);
  await editor.until('it asks', () => editor.asked.length === 1);
  const { decisions } = await walked.ask<{ decisions: { id: string }[] }>('decision_list');
  const id = decisions[0]?.id ?? '';
  await walked.ask('decision_resolve', { id, option: 1, delay_ms: 60_000 });
  await editor.until('the question is withdrawn', () => editor.withdrawn === 1);
  await walked.ask('decision_undo', { id });
  await editor.until('it asks again', () => editor.asked.length === 2);

  await walked.ask('page_key_revoke', { all: true });
  const message = expect.stringContaining('the key acp-test-editor-1 was revoked');
  expect(await turn).toMatchObject([{ status: 'rejected', reason: { message } }]);
  await editor.until('the question is withdrawn', () => editor.withdrawn === 2);
  expect(await walked.ask('task_view', { task_id: 'W-00001' })).toMatchObject({ activity: 'waiting' });
});

it('leaves a workflow alone that another session started, and when the editor quits', { timeout: 60_000 }, async () => {
  const walked = new WorkflowScene();
  scene = walked;
  await walked.start();
  const id = await walked.run('issue', 'Read durations back', '--mode', 'semi');
  const editor = startEditor(walked);
  await editor.initialize();
  const { sessionId } = await editor.newSession(walked.repository);
  const turn = editor.prompt(sessionId, `/follow ${id}`);
  await editor.until('it asks', () => editor.asked.length === 1);
  await editor.cancel(sessionId);
  expect(await turn).toEqual({ stopReason: 'cancelled' });
  expect(editor.said).toContain(`${id} continues`);

  const own = Promise.allSettled([editor.prompt(sessionId, '/issue Another one')]);
  await editor.until('it runs', () => editor.said.includes('W-00002'));
  expect(await editor.quit()).toBe(0);
  expect(await own).toMatchObject([{ status: 'rejected' }]);
  for (const task_id of [id, 'W-00002'])
    expect(await walked.ask('task_get', { task_id })).not.toMatchObject({ status: 'cancelled' });
  expect(await walked.ask('page_keys')).toEqual({ keys: [] });
});
