import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { listLiving, readProcFile } from '../../src/api/processes.ts';
import { agentFiles, type Running } from '../../src/supervisor/contract.ts';
import { containerName, listContainers } from '../../src/sandbox/container/end-container.ts';
import { findPodman, NO_ENGINE } from '../../src/sandbox/container/container.cases.ts';
import { makeTestImage, type TestImage } from '../processes/test-image.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';
import { AttackScene, proveAttack, proveEnd } from './sandbox-attacks.cases.ts';

const { podman = NO_ENGINE, why } = await findPodman();

describe.skipIf(podman === NO_ENGINE)(`sessions in a container${why}`, () => {
  let image: TestImage | undefined;
  let scene: WorkflowScene | AttackScene | undefined;
  beforeAll(() => {
    image = makeTestImage(podman);
  });
  afterEach(async () => {
    await scene?.end();
    scene = undefined;
  });
  afterAll(() => image?.remove());

  const sandbox = (): string => `{ mode = "container", image = "${image?.name}", read = ["/usr"] }`;

  it('go from a request to a merge, with agents, checks and commands in containers', { timeout: 180_000 }, async () => {
    const flow = (scene = new WorkflowScene((toml) => `sandbox = ${sandbox()}\n${toml}`));
    await flow.start();
    const id = await flow.run('issue', 'Read durations back');
    const end = await flow.ended(id, 170_000);
    expect([end?.is, end?.because]).toEqual(['closed', null]);
    expect(flow.git('show', 'main:src/parse-duration.js')).toContain('throw');
    expect(await flow.handoffs(id)).toContain('ci-gate → fixer-agent');
    const told = await flow.entries();
    const kindsIn = (type: string): unknown[] => [
      ...new Set(told.filter((each) => each.type === type).map(({ data }) => data['sandbox'])),
    ];
    for (const type of ['AgentStarted', 'CheckFinished']) expect([type, kindsIn(type)]).toEqual([type, ['container']]);
    expect(await listContainers(podman, flow.stateDir)).toEqual([]);
  });

  it('reach nothing outside, and end with all that they started', { timeout: 120_000 }, async () => {
    const attack = (scene = new AttackScene());
    attack.prepare(sandbox());
    await attack.start();
    const { agent, worktree } = await attack.attack();
    expect(await listContainers(podman, attack.stateDir)).toEqual([containerName(`${agent}-1`)]);
    expect(await proveEnd(attack, agent)).toMatchObject({ status: 'failed', exit: { timed_out: true } });
    expect(await listContainers(podman, attack.stateDir)).toEqual([]);
    expect(proveAttack(attack, worktree)).toContain('No such file or directory');
  });

  it('end when their supervisor and its guard are killed', { timeout: 120_000 }, async () => {
    const attack = (scene = new AttackScene());
    attack.prepare(sandbox());
    await attack.start();
    const { agent } = await attack.attack();
    const { supervisor } = JSON.parse(readFileSync(agentFiles(attack.stateDir, agent).running(1), 'utf8')) as Running; // oxlint-disable-line typescript/no-unsafe-type-assertion
    const guards = listLiving().filter(({ pid }) => {
      const words = readProcFile(pid, 'cmdline');
      return words.includes('read -r done') && words.includes(containerName(`${agent}-1`));
    });
    expect(guards).toHaveLength(1);
    for (const pid of [...guards.map((each) => each.pid), Number(supervisor.split('/')[1])])
      process.kill(pid, 'SIGKILL');
    await proveEnd(attack, agent);
    expect(await listContainers(podman, attack.stateDir)).toEqual([]);
    expect(attack.git('log', '-1', '--format=%s', 'stolen')).toBe('its work');
  });

  it('report what the image lacks', async () => {
    const attack = (scene = new AttackScene());
    attack.prepare(sandbox());
    attack.write(`sandbox = ${sandbox()}
      [agents.absent]
      run = "no-such-client"
      on_dead = "fail"`);
    await attack.start();
    const { exit } = await attack.agent(await attack.run('absent'));
    expect(exit).toMatchObject({ code: 127, output: expect.stringContaining('it must be in the image') });
  });
});
