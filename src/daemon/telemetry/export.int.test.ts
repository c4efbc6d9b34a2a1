import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stateFiles } from '../../api/state-folder.ts';
import { RunScene } from '../runs.cases.ts';
import { OtlpReceiver, type ReceivedSpan } from './otlp-receiver.cases.ts';

const MODULE = join(import.meta.dirname, '../../../examples/telemetry/otel.mjs');
const COMPLETE = `baton emit agent:signal '{\\"kind\\":\\"complete\\",\\"message\\":\\"said-by-the-agent\\"}'`;

let world: RunScene;
let receiver: OtlpReceiver;
beforeEach(() => {
  world = new RunScene();
  receiver = new OtlpReceiver();
});
afterEach(async () => {
  receiver.close();
  await world.end();
});

/** A separate process, because the SDK registers itself for the whole process. */
async function startDaemon(env: Record<string, string>): Promise<() => Promise<void>> {
  const daemon = await world.scene.spawnDaemon({ BATON_TICK_MS: '50', ...env });
  expect(daemon.said).toBe('ready');
  world.connect({ BATON_TICK_MS: '50' });
  return async () => {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
  };
}

/** The path of each span: the names of its parents and its own. */
function pathsOf(spans: readonly ReceivedSpan[]): string[] {
  const path = (span: ReceivedSpan): string => {
    const above = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return above === undefined ? span.name : `${path(above)} → ${span.name}`;
  };
  return spans.map(path).sort();
}

it('exports the trace of a pipeline, also if the daemon was restarted in the middle of it', async () => {
  world.write(`
    [agents.coder]
    run = "${COMPLETE}"
    [pipelines.deliver]
    steps = [
      { name = "build", run = "echo built" },
      { name = "wait", run = "until test -e go; do sleep 0.05; done" },
      { name = "code", run = { agent = "coder" } },
    ]`);
  const env = { BATON_TELEMETRY: MODULE, OTEL_EXPORTER_OTLP_ENDPOINT: await receiver.listen() };
  const stopFirst = await startDaemon(env);
  const id = await world.run('deliver');
  await world.untilStep(id, 'wait');
  await stopFirst();
  expect(receiver.spans).toEqual([]);
  const stopSecond = await startDaemon(env);
  world.touch('go');
  expect((await world.pipeline(id)).status).toBe('done');
  await stopSecond();
  expect(pathsOf(receiver.spans)).toEqual([
    'pipeline deliver',
    'pipeline deliver → step build',
    'pipeline deliver → step code',
    'pipeline deliver → step code → session coder',
    'pipeline deliver → step wait',
  ]);
  expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(1);
  const root = receiver.spans.find(({ name }) => name === 'pipeline deliver');
  const started = (await world.scene.entries()).find(({ type }) => type === 'PipelineStarted');
  expect(root?.startTimeUnixNano).toBe(`${Date.parse(started?.at ?? '')}000000`);
  expect(receiver.metrics.get('baton.pipeline.duration')).toMatchObject({
    unit: 's',
    histogram: { dataPoints: [{ count: 1 }] },
  });
  expect(receiver.bodies.join('\n')).not.toContain('said-by-the-agent');
  expect(receiver.bodies.join('\n')).not.toContain(world.repository);
});

it('starts without a module that fails, and says why', async () => {
  const stop = await startDaemon({ BATON_TELEMETRY: join(world.repository, 'missing.mjs') });
  await stop();
  expect(readFileSync(stateFiles(world.stateDir).log, 'utf8')).toContain('telemetry is not exported');
});
