import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findChoice } from '../../src/cli/init/agents.ts';
import { renderRunbook } from '../../src/cli/init/render-runbook.ts';
import { OtlpReceiver, type ReceivedSpan } from '../../src/daemon/telemetry/otlp-receiver.cases.ts';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import { until } from '../processes/until.ts';
import { Fleet } from './fleet.ts';

const MODULE = join(import.meta.dirname, '../../examples/telemetry/otel.mjs');

/** The scripted workflow of `baton init`, with two roles that are bound to one host each. */
function runbook(): string {
  const agent = findChoice('scripted');
  if (agent === undefined) throw new Error('there are no scripted agents');
  const checks = [{ name: 'test', run: 'test -d baton-scripted', from: null, isOnline: false }];
  const bound = (role: string): string =>
    `\n[workers.${role}s]\nroles = ["${role}"]\nworkflow = true\nlabels = ["${role}"]\nrun = { agent = "${role}" }\n`;
  const text = renderRunbook({ agent, branch: 'main', checks, install: null, build: null });
  return `${text}${bound('implementer')}${bound('reviewer')}\n[notify]\ndesktop = false\nterminal = false\n`;
}

let server: PostgresServer;
const receivers = [new OtlpReceiver(), new OtlpReceiver()] as const;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(async () => {
  for (const receiver of receivers) receiver.close();
  await server.stop();
});

it(
  'shows a workflow on two hosts as one trace, sent once, and counts its claims once',
  { timeout: 180_000 },
  async () => {
    const database = new URL(await server.createDatabase()).pathname.slice(1);
    const [first, second] = [await receivers[0].listen(), await receivers[1].listen()];
    await using fleet = await Fleet.open({
      server: { socketFolder: server.socketFolder, database },
      direct: true,
      hosts: 1,
      files: { 'baton.toml': runbook() },
      env: { BATON_TELEMETRY: MODULE, OTEL_EXPORTER_OTLP_ENDPOINT: first },
    });
    const one = fleet.founder;
    const two = await fleet.addHost({ OTEL_EXPORTER_OTLP_ENDPOINT: second });
    await one.admit(one, 8, ['implementer']);
    await one.admit(two, 8, ['reviewer']);
    await two.hasSeen((await fleet.entries()).length);
    const { id } = await one.order<{ id: string }>('run_start', { name: 'issue', args: ['Cross the hosts'] });
    await until(
      'the workflow is closed, and its last agent has ended',
      async () => {
        const types = (await fleet.entries()).map(({ type }) => type);
        const count = (type: string): number => types.filter((each) => each === type).length;
        const isClosed = (await one.order<{ activity: string }>('task_view', { task_id: id })).activity === 'done';
        return isClosed && count('AgentRequested') === count('AgentEnded');
      },
      120_000,
    );
    const entries = await fleet.entries();
    await Promise.all([one.hasSeen(entries.length), two.hasSeen(entries.length)]);
    // A stopping daemon sends the remaining spans.
    for (const host of [one, two]) await host.world.type(['down']);

    const sent = receivers.map(({ spans }) => spans.filter(({ name }) => name === 'task').length);
    expect(sent.toSorted((a, b) => a - b)).toEqual([0, 1]);
    const spans = receivers.flatMap((receiver) => receiver.spans);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(pathsOf(spans)).toEqual(
      [
        'task',
        'task → checks',
        'task → checks → check test',
        'task → merge',
        ...ROLES.flatMap((role) => [`task → session ${role}`, `task → session ${role} → agent ${role}`]),
      ].toSorted(),
    );
    const hostsOf = (name: string): unknown[] => spans.filter((span) => span.name === name).map(hostOf);
    for (const kind of ['session', 'agent']) {
      expect([kind, hostsOf(`${kind} implementer`)]).toEqual([kind, [one.name]]);
      expect([kind, hostsOf(`${kind} reviewer`)]).toEqual([kind, [two.name]]);
    }
    const claims = receivers.flatMap(({ metrics }) => metrics.get('baton.claims')?.sum?.dataPoints ?? []);
    const counted = claims.reduce((sum, { asDouble = 0 }) => sum + asDouble, 0);
    expect(counted).toBe(entries.filter(({ type }) => type === 'TaskClaimed').length);
  },
);

const ROLES = ['issue-manager', 'prep', 'implementer', 'reviewer', 'validator', 'closer'];

/** Each span by its name, after the names of its parents. */
function pathsOf(spans: readonly ReceivedSpan[]): string[] {
  const path = (span: ReceivedSpan): string => {
    const above = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return above === undefined ? span.name : `${path(above)} → ${span.name}`;
  };
  return spans.map(path).toSorted();
}

function hostOf({ attributes }: ReceivedSpan): unknown {
  return attributes.find(({ key }) => key === 'baton.host')?.value['stringValue'];
}
