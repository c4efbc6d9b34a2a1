import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { readProcessIdentity } from '../../api/processes.ts';
import { Play } from '../../engine/play.cases.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { agentFiles, type Control, type Running } from '../../supervisor/contract.ts';
import { StandingPush } from './messages.ts';

interface Heard {
  readonly isHeld: boolean;
  readonly at: number;
  readonly response: ServerResponse;
}

/** A supervisor that records what it receives and answers when the test allows it. */
async function supervisor(stateDir: string, id: string): Promise<Heard[]> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const said: Extract<Control, { kind: 'standing' }> = JSON.parse(String(await request.toArray()));
      heard.push({ isHeld: said.standing.is_held === true, at: said.standing.at ?? 0, response });
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const own = readProcessIdentity(process.pid) ?? '';
  const running: Running = { start: 1, supervisor: own, process: own, port };
  const files = agentFiles(stateDir, id);
  mkdirSync(files.folder, { recursive: true });
  writeFileSync(files.running(1), JSON.stringify(running));
  return heard;
}

it('sends an unchanged standing again if a response carried another one in between', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'baton-standings-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  const heard = await supervisor(stateDir, 'a1');
  const times = { controlMs: 10_000 };
  const here = (): undefined => undefined;
  const standings = new StandingPush({
    stateDir,
    supervisorToken: () => 't',
    usesExitSignals: () => false,
    times,
    here,
  });
  const play = new Play();
  play.order(runs.startAgent(runs.agentPlan({ budget: { tokens: 100 } }), 'a1')).say(runs.started('a1'));
  standings.reconcile(play.state);
  await until('it is told', () => heard.length === 1);
  // Meanwhile the agent is parked, which its supervisor learns from the response to its own report. Then the agent may
  // continue.
  play.say(runs.used(play.agent('a1'), 120), runs.supervisor('a1'));
  standings.reconcile(play.state);
  play.order(runs.resolve(play.decision().id, 1));
  standings.reconcile(play.state);
  heard[0]?.response.end('{"ok":true}');
  await until('it is told again', () => heard.length === 2);
  heard[1]?.response.end('{"ok":true}');
  await standings.untilDelivered('a1');
  expect(heard.map(({ isHeld }) => isHeld)).toEqual([false, false]);
  expect(heard[1]?.at).toBe(play.state.seq);
  // An unchanged standing is not sent again.
  standings.reconcile(play.state);
  await standings.untilDelivered('a1');
  expect(heard).toHaveLength(2);
});
