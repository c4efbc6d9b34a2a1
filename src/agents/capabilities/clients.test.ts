import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACP_PRESET_NAMES, MODEL_CLIENT_NAMES, UNMETERED_CLIENTS } from '../../protocol/run-plan.ts';
import { fieldOf } from '../../protocol/shape/read-unknown.ts';
import { agentFiles } from '../../supervisor/contract.ts';
import { PRESETS } from '../acp/presets.ts';
import type { Adapter, AgentContext, LaunchParts } from '../adapter.ts';
import { findAdapter, hasReliableStopFlag, isInteractive } from '../prepare-agent.ts';
import { type Question, QUESTIONS, explainAnswer, renderAnswer } from './capabilities.ts';
import { type Client, findClient, listClients } from './clients.ts';

const clients = listClients();
const PINNED: unknown = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../test/clients/pinned/package.json'), 'utf8'),
);

it('lists every client that a runbook can name, once', () => {
  const others = ['acp:COMMAND', 'scripted FILE', 'COMMAND'];
  expect(clients.map(({ run }) => run)).toEqual([...MODEL_CLIENT_NAMES, ...Object.keys(PRESETS), ...others]);
  expect(Object.keys(PRESETS)).toEqual([...ACP_PRESET_NAMES]);
});

it('agrees with the runbook check on the clients without usage', () => {
  const timed = clients.filter(({ capabilities }) => capabilities.budget === 'time').map(({ run }) => run);
  expect(timed).toEqual(UNMETERED_CLIENTS);
});

it.each([
  ['claude', 'claude'],
  ['qwen', 'qwen'],
  ['acp:goose acp', 'acp:COMMAND'],
  ['scripted --command-hook a.yaml', 'scripted FILE'],
  ['./my-agent --fast', 'COMMAND'],
  ['claude -p', 'COMMAND'],
  ['builtin:prep', undefined],
])('%s is the client %s', (run, expected) => {
  expect(findClient(run)?.run).toBe(expected);
});

describe.each(clients.map((client) => [client.run, client] as const))('the answers of %s', (_, client) => {
  const { capabilities } = client;

  it('are complete, and have words', () => {
    const questions = Object.keys(QUESTIONS) as Question[]; // oxlint-disable-line typescript/no-unsafe-type-assertion
    for (const question of questions) {
      expect(renderAnswer(question, capabilities).length).toBeLessThan(28);
      expect(explainAnswer(question, capabilities).length).toBeGreaterThan(10);
    }
    expect(capabilities.login).not.toBe('');
  });

  it('agree with each other', () => {
    const { gate, hooks, usage, budget, cost, permissions } = capabilities;
    expect(hooks.length > 0).toBe(gate.endsWith('-hook'));
    expect(usage === 'none').toBe(budget === 'time' || budget === 'end');
    expect(usage === 'none').toBe(cost === 'none');
    // A tool is held at a hook, or at an ACP agent's permission request.
    const canHold = hooks.some((name) => TOOL_HOOKS.has(name)) || (gate === 'prompt' && permissions !== 'none');
    expect(canHold && usage === 'request').toBe(budget === 'held');
  });

  it('say whether a person can attach', () => {
    expect(isInteractive(client)).toBe(capabilities.attach === 'terminal');
  });

  it('name the version that the tests run with', () => {
    const { package: name, tested } = client;
    if (name === null || tested.length === 0) return;
    expect(tested.at(-1)).toBe(fieldOf(fieldOf(PINNED, 'dependencies'), name));
    expect(tested).toEqual(tested.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })));
  });
});

const TOOL_HOOKS: ReadonlySet<string> = new Set(['PreToolUse', 'BeforeTool']);

describe.each(['claude', 'codex', 'gemini', 'scripted FILE'])('the adapter of %s', (run) => {
  const { capabilities } = requireClient(run);
  const adapter = findAdapter(run);
  const launch = prepare(run, adapter);

  it('sets the hooks of the table, and no others', () => {
    expect(hooksOf(launch)).toEqual(capabilities.hooks.toSorted());
    expect([...launch.argv, ...contentsOf(launch)].join('\n').includes('${BATON_URL}/hook/stop')).toBe(
      capabilities.gate === 'http-hook',
    );
  });

  it('takes messages as the table says', () => {
    expect(launch.input).toBe(capabilities.message === 'at-once' ? 'stream-json' : 'once');
  });

  it('turns the own sandbox of the client off if it has one', () => {
    const variables = adapter?.clientFiles?.({}, '/project').withoutOwnSandbox ?? {};
    const isOff = Object.keys(variables).length > 0 || launch.argv.includes('danger-full-access');
    expect(isOff).toBe(capabilities.sandbox === 'own-off');
  });
});

it.each(MODEL_CLIENT_NAMES)('starts %s by the program of the table, without updates', (run) => {
  const { program, env = {} } = requireClient(run);
  const launch = prepare(run, findAdapter(run));
  expect(launch.argv[0]).toBe(program);
  expect(launch.env).toMatchObject(env);
});

it('counts blocks itself for ACP agents and Gemini CLI, whose stop flag is missing or unreliable', () => {
  const counted = clients.filter(({ run }) => !hasReliableStopFlag({ run })).map(({ run }) => run);
  const prompted = clients.filter(({ capabilities }) => capabilities.gate === 'prompt').map(({ run }) => run);
  expect(counted).toEqual(['gemini', ...prompted]);
});

function requireClient(run: string): Client {
  const client = findClient(run);
  if (client === undefined) throw new Error(`no client ${run}`);
  return client;
}

function prepare(run: string, adapter: Adapter | undefined): LaunchParts {
  const context: AgentContext = {
    agentId: 'agent-1',
    start: 1,
    prompt: 'begin',
    isResume: false,
    conversation: null,
    stateDir: '/state',
    cwd: '/project',
    programs: {
      supervisor: '/s',
      stopHook: '/h',
      scripted: '/x',
      builtin: '/builtin',
      acpDriver: '/d',
      networkHelper: '/n',
      shellForward: '/n',
      baton: '/b',
    },
  };
  const prepared = adapter?.prepare({ name: 'a', run }, context, agentFiles('/state', 'agent-1'));
  if (prepared?.ok !== true) throw new Error(`${run} cannot be prepared`);
  return prepared.launch;
}

/** Finds hooks in settings files and in flags such as `hooks.Stop=…`. */
function hooksOf(launch: LaunchParts): string[] {
  const flags = launch.argv.flatMap((word) => /^hooks\.([A-Z]\w*)=/.exec(word)?.[1] ?? []);
  const files = contentsOf(launch).flatMap((text) => Object.keys(Object(fieldOf(JSON.parse(text), 'hooks') ?? {})));
  return [...flags, ...files].toSorted();
}

function contentsOf({ files }: LaunchParts): string[] {
  return files.flatMap(({ path, content }) => (path.endsWith('.json') ? [content] : []));
}
