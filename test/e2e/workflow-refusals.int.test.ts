import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { createClient } from '../../src/api/client/connect.ts';
import { changesRequested } from '../../src/state/workflow/say.cases.ts';

let scene: RunScene;
beforeEach(async () => {
  scene = new RunScene();
  scene.write('exit_protocol = true');
  await scene.start();
});
afterEach(async () => scene.end());

const APPROVED = `<handoff><from>reviewer-agent</from><to>validator-agent</to><pr_url>https://example.org/1</pr_url>
<pr_number>1</pr_number><issue_number>1</issue_number><review_status>approved</review_status><critical_count>0</critical_count>
<important_count>0</important_count><summary>fine</summary></handoff>`;

/** A claimed task in the role that works next, with the claim's token. */
async function claimed(role = 'reviewer'): Promise<string> {
  await scene.ask('task_create', { task_id: 'A', title: 'do it', role, phase: 'REVIEW' });
  const { token } = await scene.ask<{ token: string }>('task_claim', { task_id: 'A', as: 'ada', role });
  return token;
}

async function send(handoff: string, token?: string) {
  if (token === undefined) return scene.call('handoff_send', { handoff, task_id: 'A' });
  const client = createClient({ stateDir: scene.stateDir, env: scene.scene.env, token, autostart: false });
  try {
    return await client.call('handoff_send', { handoff });
  } finally {
    client.close();
  }
}

describe('a handoff is refused, and changes nothing', () => {
  it.each([
    [
      'on an edge that does not exist',
      APPROVED.replace('validator-agent', 'closer-agent'),
      'bad-request',
      'No edge leads from',
    ],
    [
      'from a role that the session does not play',
      changesRequested()
        .replace('reviewer-agent', 'validator-agent')
        .replace('<critical_count>1</critical_count>', '')
        .replace(
          /<review_status>.*/,
          '<validation_status>failed</validation_status><failures><failure type="x">y</failure></failures></handoff>',
        ),
      'wrong-sender',
      'this session plays reviewer',
    ],
    ['that is malformed', '<handoff><from>reviewer-agent</from>', 'bad-request', ''],
    [
      'with an element that does not belong there',
      APPROVED.replace('<summary>', '<bribe>1</bribe><summary>'),
      'bad-request',
      'bribe',
    ],
    [
      'that approves in spite of findings',
      APPROVED.replace('<critical_count>0', '<critical_count>1'),
      'bad-request',
      'critical_count must be 0',
    ],
    ['that is about another issue', APPROVED.replace('<issue_number>1', '<issue_number>7'), 'wrong-task', 'number 1'],
    ['that is too large', APPROVED.replace('fine', 'x'.repeat(262_144)), 'too-large', ''],
  ])('%s', async (_, handoff, code, words) => {
    const token = await claimed();
    const { seq } = await scene.ask('status_get');
    const answer = await send(handoff, token);
    expect(answer).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(words) } });
    expect((await scene.ask('status_get')).seq).toBe(seq);
  });

  it('out of turn', async () => {
    await scene.ask('task_create', { task_id: 'A', title: 'do it', role: 'implementer' });
    const { seq } = await scene.ask('status_get');
    expect(await send(APPROVED)).toMatchObject({ ok: false, error: { code: 'out-of-turn' } });
    expect((await scene.ask('status_get')).seq).toBe(seq);
  });

  it('from an author of the approved work', async () => {
    await scene.ask('task_create', { task_id: 'A', title: 'do it', role: 'fixer' });
    await scene.ask('task_claim', { task_id: 'A', as: 'ada', role: 'fixer' });
    const fixes = '<fixes_applied><fix location="a:1">b</fix></fixes_applied>';
    const fixed = `<handoff><from>fixer-agent</from><to>reviewer-agent</to><pr_url>https://example.org/1</pr_url>
<pr_number>1</pr_number><issue_number>1</issue_number>${fixes}<commits_added>1</commits_added></handoff>`;
    expect(await send(fixed)).toMatchObject({ ok: true });
    const { token } = await scene.ask<{ token: string }>('task_claim', { task_id: 'A', as: 'ada', role: 'reviewer' });
    const { seq } = await scene.ask('status_get');
    expect(await send(APPROVED, token)).toMatchObject({ ok: false, error: { code: 'separation-of-duties' } });
    expect((await scene.ask('status_get')).seq).toBe(seq);
  });

  it('from an ended claim', async () => {
    const token = await claimed();
    await scene.ask('task_release', { task_id: 'A' });
    await scene.ask('task_claim', { task_id: 'A', as: 'bob', role: 'reviewer' });
    const { seq } = await scene.ask('status_get');
    expect(await send(APPROVED, token)).toMatchObject({
      ok: false,
      error: { code: 'stale-claim', message: 'stale claim: epoch 1 < 2' },
    });
    expect((await scene.ask('status_get')).seq).toBe(seq);
  });
});
