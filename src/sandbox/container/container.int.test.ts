import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itHoldsItsSession } from './attacks.cases.ts';
import { ContainerScene, findPodman, NO_ENGINE, runToEnd } from './container.cases.ts';
import { runEngine } from './run-engine.ts';

const { podman, why } = await findPodman();

describe.skipIf(podman === undefined)(`a container of podman${why}`, () => {
  const scene = new ContainerScene(podman);
  beforeAll(() => scene.prepare());
  afterAll(() => scene.remove());
  itHoldsItsSession(scene);
});

const { code: dockerCode } = await runEngine(['docker'], ['--version'], { timeoutMs: 20_000 });
const noDocker = dockerCode === 0 ? '' : ' (NOT RUN: no docker program)';

/** Without an engine, docker's program checks its arguments and then fails to connect. */
it.skipIf(dockerCode !== 0)(`docker's program understands the arguments${noDocker}`, async () => {
  const command = ['docker', '--host', 'unix:///nonexistent/docker.sock'];
  const engine = { ...NO_ENGINE, name: 'docker', command, hasInit: true, limits: 'cgroup v2' } as const;
  const scene = new ContainerScene(engine);
  scene.prepare();
  const container = { engine, source: { image: 'node:24' }, args: [] };
  const ran = await runToEnd(scene.command('docker', ['true'], { container, network: 'host', isTerminal: false }));
  scene.remove();
  expect(ran.output).toMatch(/connect/i);
  expect(ran.output).not.toMatch(/unknown flag|invalid argument/i);
});
