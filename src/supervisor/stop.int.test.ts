import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { someOf } from '../../test/lanes.ts';
import { until } from '../../test/processes/until.ts';
import { keepCall, listKept, readKept } from '../api/outbox.ts';
import { stateFiles } from '../api/state-folder.ts';
import { findPrograms } from './programs.ts';
import { launchIn, PROGRAMS, Scene, TOKEN, type Supervised } from './scene.cases.ts';
import { STOP_CASES, TEXTS, type StopCase } from './stop.cases.ts';

/** A program that decides stops: returns the block reason, or null. */
type Asked = (input: string) => Promise<string | null>;

describe.each(someOf(STOP_CASES, 1, 9, 10, 11, 15))('$name', (stopCase) => {
  it('at the supervisor', async () => {
    await using scene = sceneOf(stopCase);
    const run = await supervised(scene, stopCase);
    expect(await play(stopCase, scene, async (input) => run.stop(input))).toEqual(outcomeOf(stopCase));
  });

  it('at the command, which asks the supervisor', async () => {
    await using scene = sceneOf(stopCase);
    const run = await supervised(scene, stopCase);
    const { port } = await run.running();
    const env = { BATON_TOKEN: TOKEN, BATON_AGENT_ID: scene.agentId, BATON_URL: `http://127.0.0.1:${port}` };
    expect(await play(stopCase, scene, commandHook(scene, env))).toEqual(outcomeOf(stopCase));
  });

  it('at the command alone', async () => {
    await using scene = sceneOf(stopCase);
    if (stopCase.standing !== undefined) await scene.daemon.start();
    prepare(scene, stopCase);
    expect(await play(stopCase, scene, commandHook(scene, { BATON_TOKEN: TOKEN }))).toEqual(outcomeOf(stopCase));
  });
});

describe('an agent that has no files', () => {
  const STRANGER = { has_signalled: false, is_owned: false, is_parked: false, missing: [] };

  it.each([
    ['is let go if the daemon does not know it', STRANGER, ''],
    ['is held if the daemon owns it', { ...STRANGER, is_owned: true }, TEXTS.signal],
  ])('%s', async (_, standing, says) => {
    await using scene = new Scene({ agent_standing: () => ({ ok: true, result: standing }) });
    await scene.daemon.start();
    writeFileSync(stateFiles(scene.stateDir).workerToken, 'w.token\n', { mode: 0o600 });
    const answer = (await commandHook(scene, {})('{}')) ?? '';
    expect(answer).toContain(says);
    expect(answer === '').toBe(says === '');
    expect(scene.daemon.of('agent_standing')).toMatchObject([{ input: { agent_id: scene.agentId } }]);
  });
});

/** A scene whose daemon knows the recorded blocks of the case. */
function sceneOf({ standing }: StopCase): Scene {
  const recorded = (): number =>
    Math.max(0, ...scene.daemon.reports('blocked').map(({ input }) => Number(input['blocks'])));
  const withBlocks = () => ({ ...standing, blocks: Math.max(standing?.blocks ?? 0, recorded()) });
  const scene: Scene = new Scene({ agent_standing: () => ({ ok: true, result: withBlocks() }) });
  return scene;
}

/** Writes the files of an agent that has been started once. */
function prepare(scene: Scene, { config, kept, owes = [] }: StopCase) {
  const files = scene.files();
  const launch = { ...launchIn(scene), argv: ['/bin/sh', '-c', 'exec cat'], owes } as const;
  mkdirSync(files.folder, { recursive: true });
  writeFileSync(files.launch(1), JSON.stringify(launch));
  if (config !== undefined) writeFileSync(files.config, config.replace(/}$/, ',"start":1}'));
  const keptAt = new Date().toISOString();
  const call = { v: 1, key: 'k', token: TOKEN, projectPath: null, keptAt } as const;
  if (kept !== undefined) keepCall(stateFiles(scene.stateDir).outbox, { ...call, ...kept });
  return launch;
}

async function supervised(scene: Scene, stopCase: StopCase): Promise<Supervised> {
  if (stopCase.standing !== undefined) await scene.daemon.start();
  const run = await scene.supervise(prepare(scene, stopCase));
  await run.running();
  if (stopCase.standing !== undefined)
    await until('the supervisor knows how the agent stands', () => scene.daemon.of('agent_standing').length > 0);
  return run;
}

interface Outcome {
  readonly told: readonly unknown[];
  readonly records: readonly string[];
}

function outcomeOf({ stops, records = [] }: StopCase): Outcome {
  return { told: stops.map(({ says }) => says), records };
}

async function play({ stops, owes = [] }: StopCase, scene: Scene, ask: Asked): Promise<Outcome> {
  const told: unknown[] = [];
  for (const { input } of stops) told.push(kindOf(await ask(input), scene.agentId, owes));
  return { told, records: recordsOf(scene) };
}

/** The name of the block reason, complete with all that is owed; the text itself if it is none of them. */
function kindOf(text: string | null, agentId: string, owes: readonly string[]): string | null {
  if (text === null || text === TEXTS.idle || text === TEXTS.escalate)
    return text === null ? null : text === TEXTS.idle ? 'idle' : 'escalate';
  return text.startsWith(`${TEXTS.signal}${agentId} '<json>'\n`) && owes.every((owed) => text.includes(owed))
    ? 'signal'
    : text;
}

/** The records that the supervisor or the command sent to the daemon or kept in the outbox. */
function recordsOf({ daemon, stateDir }: Scene): string[] {
  const { outbox } = stateFiles(stateDir);
  const kept = listKept(outbox).map((name) => readKept(outbox, name));
  const said = kept.map((call) => ({
    operation: call?.operation ?? '',
    input: { ...Object(JSON.parse(call?.input ?? '{}')) },
  }));
  return [...daemon.calls, ...said].flatMap(({ operation, input }) => {
    if (operation === 'agent_idle') return ['idle'];
    if (operation === 'agent_stop') return ['stop'];
    const kind: unknown = operation === 'agent_report' ? input['kind'] : undefined;
    return kind === 'idle' || kind === 'stop' ? [kind] : [];
  });
}

function commandHook({ stateDir, agentId }: Scene, env: Readonly<Record<string, string>>): Asked {
  return async (input) => {
    const { stopHook } = await findPrograms(PROGRAMS);
    const child = spawn(process.execPath, [stopHook, agentId], {
      env: { ...env, BATON_STATE_DIR: stateDir },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(input);
    const [output, code] = await Promise.all([
      child.stdout.setEncoding('utf8').toArray(),
      new Promise((resolve) => {
        child.once('exit', resolve);
      }),
    ]);
    const text = output.join('');
    if (code !== 0) throw new Error(`exit code ${String(code)}`);
    const answer: unknown = text === '' ? {} : JSON.parse(text);
    const { decision, reason }: { decision?: unknown; reason?: unknown } = Object(answer);
    return decision === 'block' ? String(reason) : null;
  };
}
