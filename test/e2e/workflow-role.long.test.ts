import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { WorkflowScene } from '../processes/workflow-scene.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/runbooks/security-review.toml');

let scene: WorkflowScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

/** The sample, whose reviewer hands on to the role that the example adds, played by a script. */
function withSecurity(): WorkflowScene {
  const made = new WorkflowScene();
  const example = readFileSync(EXAMPLE, 'utf8').replace('run = "claude"', 'run = "scripted agents/security.yaml"');
  made.edit('agents/play.mjs', (text) =>
    text
      .replace(
        "handOn('validator-agent', 'It does what the issue asks', {})",
        "handOn('security-agent', 'It does what the issue asks', {})",
      )
      .replace('const roles = {', "const roles = {\n  security: () => handOn('validator-agent', seesTheChange(), {}),"),
  );
  // Every judging role is shown the change and its purpose.
  made.edit(
    'agents/play.mjs',
    (text) => `${text}
function seesTheChange() {
  const isThere = /^\\+export function parseDuration/m.test(readTask()) && readTask().includes('<requirement>parseDuration');
  return isThere ? 'Nothing risky' : 'I see nothing';
}
`,
  );
  writeFileSync(
    join(made.repository, 'agents/security.yaml'),
    '- say: I look for risks.\n- run: node agents/play.mjs security\n- stop\n',
  );
  made.addRunbook('security.toml', example);
  made.git('add', '--all');
  made.git('commit', '--quiet', '--message', 'a security reviewer');
  return made;
}

describe('a role that a runbook adds', () => {
  it('has its place in the workflow, with its own handoffs, and cannot be bypassed', { timeout: 120_000 }, async () => {
    scene = withSecurity();
    await scene.start();
    const id = await scene.run('issue', 'Read durations back');
    const [end] = await scene.settled([id], 100_000);
    expect(end).toMatchObject({ is: 'closed', because: null });
    const handoffs = await scene.handoffs(id);
    expect(handoffs).toContain('reviewer-agent → security-agent');
    expect(handoffs).toContain('security-agent → validator-agent');
    expect(handoffs).not.toContain('reviewer-agent → validator-agent');
    const judged = (await scene.story(id)).find(({ data }) => data['from'] === 'security-agent');
    expect(judged?.data['xml']).toContain('<summary>Nothing risky</summary>');
    const claims = (await scene.story(id)).filter(({ type }) => type === 'TaskClaimed');
    expect(claims.map(({ data }) => data['role'])).toEqual([
      'issue-manager',
      'prep',
      'implementer',
      'fixer',
      'reviewer',
      'fixer',
      'reviewer',
      'security',
      'validator',
      'closer',
    ]);
  });
});
