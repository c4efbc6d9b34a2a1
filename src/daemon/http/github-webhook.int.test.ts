import { createHmac, randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDaemonRecord } from '../../api/state-folder.ts';
import { RunScene } from '../runs.cases.ts';
import { ask, type Heard } from '../running.cases.ts';

const SECRET = 'not a secret';
const TASK = 'A';
let scene: RunScene;

beforeEach(async () => {
  scene = new RunScene();
  const required = (name: string) => `[[ci.required]]\nname = "${name}"\nrepository = "owner/name"\n`;
  scene.write(`${required('build')}${required('lint')}`);
  await scene.start({ BATON_GITHUB_WEBHOOK_SECRET: SECRET });
});
afterEach(async () => scene.end());

/** Creates a task that waits for its checks, and returns the commit to check. */
async function waiting(): Promise<string> {
  const { execFileSync } = await import('node:child_process');
  const sha = execFileSync('git', ['-C', scene.repository, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  await scene.ask('task_create', { task_id: TASK, title: 'do it' });
  const { epoch } = await scene.ask<{ epoch: number }>('task_claim', { task_id: TASK, as: 'ada', role: 'implementer' });
  const record = {
    task_id: TASK,
    branch: 'main',
    commit_sha: sha,
    tests_run: [],
    summary: 'done',
    blockers: [],
    files_changed: [],
    related_thought_records: [],
  };
  await scene.ask('thought_record', { ...record, epoch });
  const handoff = `<handoff><from>implementer-agent</from><to>reviewer-agent</to><issue_url>https://example.org/1</issue_url><issue_number>1</issue_number><pr_url>https://example.org/2</pr_url><pr_number>2</pr_number><branch>main</branch><summary>x</summary><files_changed>0</files_changed><tests_added>0</tests_added><coverage>0%</coverage><commits><commit sha="${sha}">x</commit></commits></handoff>`;
  await scene.ask('handoff_send', { handoff, task_id: TASK });
  return sha;
}

const run = (name: string, head_sha: string, conclusion = 'success', repository = 'owner/name') =>
  JSON.stringify({
    action: 'completed',
    workflow_run: { name, head_sha, conclusion, html_url: 'https://example.org/run/1' },
    repository: { html_url: `https://github.com/${repository}` },
  });

async function deliver(body: string, more: Record<string, string> = {}): Promise<Heard> {
  const { port } = readDaemonRecord(scene.stateDir) ?? { port: 0 };
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const headers = {
    'x-github-event': 'workflow_run',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': signature,
    ...more,
  };
  return ask({ host: '127.0.0.1', port, path: '/webhooks/github', method: 'POST', headers }, body);
}

const phase = async () => (await scene.ask<{ phase: string }>('task_get', { task_id: TASK })).phase;

describe('a check report of GitHub', () => {
  it('passes the gate when all of them have passed, on exactly the head', async () => {
    const sha = await waiting();
    expect(await phase()).toBe('CI_PENDING');
    expect((await deliver(run('build', '0'.repeat(40)))).answer.result).toEqual({ taken: 0 });
    expect((await deliver(run('other', sha))).answer.result).toEqual({ taken: 0 });
    for (const _ of [1, 2])
      expect((await deliver(run('build', sha, 'success', 'evil/name'))).answer.result).toEqual({ taken: 0 });
    // The operator of a renamed repository finds the setting to write.
    const log = readFileSync(join(scene.stateDir, 'daemon.log'), 'utf8');
    expect(log.match(/ignored a report of a required check.*repository = \\"evil\/name\\"/gu)).toHaveLength(1);
    expect((await deliver(run('build', sha))).answer.result).toEqual({ taken: 1 });
    expect(await phase()).toBe('CI_PENDING');
    expect((await deliver(run('lint', sha, 'skipped'))).answer.result).toEqual({ taken: 1 });
    expect(await phase()).toBe('CI_PENDING');
    expect(await scene.ask('decision_list')).toMatchObject({
      decisions: [{ title: 'Does this report of a check count? A' }],
    });
    expect((await deliver(run('lint', sha, 'cancelled'))).answer.result).toEqual({ taken: 1 });
    expect(await phase()).toBe('CI_PENDING');
    expect((await deliver(run('lint', sha))).answer.result).toEqual({ taken: 1 });
    expect(await phase()).toBe('READY_FOR_REVIEW');
    expect((await scene.entries()).findLast(({ type }) => type === 'PhaseMoved')?.actor).toBe('system:ci');
  });

  it('sends a failure to the fixer, with its address', async () => {
    const sha = await waiting();
    const body = JSON.stringify({
      action: 'completed',
      check_run: {
        name: 'build',
        head_sha: sha,
        conclusion: 'timed_out',
        html_url: 'https://example.org/run/2',
        app: { slug: 'ci' },
      },
      repository: { html_url: 'https://github.com/owner/name' },
    });
    await deliver(body, { 'x-github-event': 'check_run' });
    expect(await phase()).toBe('IMPLEMENTATION');
    const handoff = (await scene.entries()).findLast(({ type }) => type === 'HandoffDelivered');
    expect(handoff?.data['xml']).toContain('https://example.org/run/2');
  });

  it('counts once, even for the next daemon', async () => {
    const sha = await waiting();
    const twice = { 'x-github-delivery': 'delivery-1' };
    expect((await deliver(run('build', sha), twice)).answer.ok).toBe(true);
    expect((await deliver(run('lint', sha), twice)).answer.error?.code).toBe('webhook-replayed');
    await scene.restart({ BATON_GITHUB_WEBHOOK_SECRET: SECRET });
    await scene.ask('status_get');
    expect((await deliver(run('lint', sha), twice)).answer.error?.code).toBe('webhook-replayed');
    expect(await phase()).toBe('CI_PENDING');
  });

  it.each([
    ['an unsigned delivery', {}, { 'x-hub-signature-256': '' }, 'bad-signature'],
    ['the signature of something else', {}, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }, 'bad-signature'],
    ['a delivery without its id', {}, { 'x-github-delivery': '' }, 'bad-request'],
    ['a head that is no commit', { sha: 'main' }, {}, 'bad-request'],
    ['more than a mebibyte', { name: 'x'.repeat(1_100_000) }, {}, 'too-large'],
  ])('%s is refused', async (_, { sha, name = 'build' }: { sha?: string; name?: string }, headers, code) => {
    const head = await waiting();
    const { seq } = await scene.ask('status_get');
    expect((await deliver(run(name, sha ?? head), headers)).answer.error?.code).toBe(code);
    expect((await scene.ask('status_get')).seq).toBe(seq);
  });

  it('is refused without a secret, and under another name of this machine', async () => {
    const sha = await waiting();
    expect((await deliver(run('build', sha), { host: 'evil.example' })).answer.ok).toBe(false);
    await scene.restart();
    expect((await deliver(run('build', sha))).answer.error?.code).toBe('webhook-off');
  });
});

describe('the page', () => {
  const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${readDaemonRecord(scene.stateDir)?.port ?? 0}${path}`, { headers });

  it('is served to every user of this machine, with a policy that allows nothing else; its data is not', async () => {
    const page = await get('/');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<script src="/page.js" type="module">');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect((await get('/page.js')).headers.get('content-type')).toContain('text/javascript');
    expect((await get('/page.css')).status).toBe(200);
    expect((await get('/page.js/../operator.token')).status).not.toBe(200);
    expect((await get('/v1/health')).status).toBe(401);
  });

  it('shows texts of agents only as text', () => {
    const sources = globSync(join(import.meta.dirname, '../../web/**/*.{ts,tsx}'));
    const unsafe = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|srcdoc/i;
    expect(sources.length).toBeGreaterThan(50);
    expect(sources.filter((file) => unsafe.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
