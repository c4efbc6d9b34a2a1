import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findPrograms } from '../../supervisor/programs.ts';
import { PROGRAMS } from '../../supervisor/scene.cases.ts';
import { inLongLane } from '../../../test/lanes.ts';

let program = '';
const folder = mkdtempSync(join(tmpdir(), 'baton-scripted-'));
beforeAll(async () => {
  program = (await findPrograms(PROGRAMS)).scripted;
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Played {
  readonly code: number | null;
  /** The printed lines, parsed as JSON objects. Any other line stays text. */
  readonly lines: readonly Record<string, unknown>[];
  readonly err: string;
}

interface PlayOptions {
  readonly settings?: object;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** Messages sent as soon as the agent starts. Then its input ends. */
  readonly messages?: readonly string[];
}

async function play(
  script: string,
  { settings, args = [], env = {}, messages = [] }: PlayOptions = {},
): Promise<Played> {
  const cwd = mkdtempSync(join(folder, 'work-'));
  writeFileSync(join(cwd, 'script.yaml'), script);
  if (settings !== undefined) writeFileSync(join(cwd, 'settings.json'), JSON.stringify(settings));
  const given = settings === undefined ? [] : ['--settings', 'settings.json'];
  const child = spawn(process.execPath, [program, '--stream-json', ...given, ...args, 'script.yaml'], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  child.stdin.end(
    messages.map((text) => `${JSON.stringify({ type: 'user', message: { role: 'user', content: text } })}\n`).join(''),
  );
  const [out, err] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
  ]);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode, lines: out.join('').trimEnd().split('\n').map(parseLine), err: err.join('') };
}

function parseLine(line: string): Record<string, unknown> {
  try {
    return { ...Object(JSON.parse(line)) };
  } catch {
    return { text: line };
  }
}

/** Settings with one stop hook: a command, or an HTTP server. */
const stopHook = (hook: object) => ({ hooks: { Stop: [{ hooks: [hook] }] } });
const command = (script: string) => stopHook({ type: 'command', command: script });
const BLOCK = '{"decision":"block","reason":"go on"}';

/** A stop hook that also writes its input to a file, so that a test can count the attempts to stop. */
const counting = (script: string) => command(`cat >> "$STOPS"; echo >> "$STOPS"; ${script}`);
function stopsFile(): { readonly env: { STOPS: string }; readonly read: () => Record<string, unknown>[] } {
  const path = join(mkdtempSync(join(folder, 'stops-')), 'stops');
  return { env: { STOPS: path }, read: () => readFileSync(path, 'utf8').trim().split('\n').map(parseLine) };
}

describe('a scripted agent', () => {
  it('prints what Claude Code prints, and ends its turn with its last message', async () => {
    const { code, lines } = await play(
      '- say: Hello\n- run: echo hi; exit 3\n- write: { path: a/b.txt, text: x }\n- say: Bye\n',
    );
    expect(code).toBe(0);
    expect(lines.map(({ type }) => type)).toEqual([
      'system',
      'assistant',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
      'result',
    ]);
    expect(lines[3]).toMatchObject({
      message: { content: [{ type: 'tool_result', content: 'hi\n', is_error: true }] },
    });
    expect(lines.at(-1)).toMatchObject({ subtype: 'success', is_error: false, result: 'Bye', session_id: 'scripted' });
  });

  it('sends the fields of Claude Code to its stop hook', async () => {
    const stops = stopsFile();
    await play('- say: Done', { settings: counting('true'), env: stops.env });
    expect(stops.read()).toMatchObject([
      {
        hook_event_name: 'Stop',
        session_id: 'scripted',
        stop_hook_active: false,
        last_assistant_message: 'Done',
        cwd: expect.any(String),
        transcript_path: expect.any(String),
      },
    ]);
  });

  it('continues after a blocked stop, or plays its steps for that', async () => {
    const once = 'if [ "$(wc -l < "$STOPS")" = 1 ]; then echo \'{"decision":"block","reason":"go on"}\'; fi';
    const stops = stopsFile();
    const { lines } = await play('- stop\n- say: Going on', { settings: counting(once), env: stops.env });
    expect(lines.at(-1)).toMatchObject({ result: 'Going on' });
    expect(stops.read().map((stop) => stop['stop_hook_active'])).toEqual([false, true]);
    const again = stopsFile();
    const played = await play('steps: [stop, say: Never]\non_block: [say: Blocked]', {
      settings: counting(once),
      env: again.env,
    });
    expect(played.lines.at(-1)).toMatchObject({ result: 'Blocked' });
  });

  inLongLane(() => {
    it('overrides the ninth block in a row, with an empty result', async () => {
      const stops = stopsFile();
      const { code, lines } = await play('- say: Done', { settings: counting(`echo '${BLOCK}'`), env: stops.env });
      expect(stops.read()).toHaveLength(9);
      expect([code, lines.at(-1)?.['result']]).toEqual([0, '']);
      const three = stopsFile();
      await play('- say: Done', {
        settings: counting(`echo '${BLOCK}'`),
        env: { ...three.env, CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '2' },
      });
      expect(three.read()).toHaveLength(3);
    });
  });

  it('counts from zero after a tool call, while the flag stays until the next message', async () => {
    const stops = stopsFile();
    const env = { ...stops.env, CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '1' };
    await play('- stop\n- run: "true"\n- stop\n', { settings: counting(`echo '${BLOCK}'`), env, messages: ['again'] });
    const flags = stops.read().map((stop) => stop['stop_hook_active']);
    expect(flags).toEqual([false, true, true, false, true]);
  });

  it('waits for messages, asks for permission, and fails like a client', async () => {
    const stops = stopsFile();
    const tell = { hooks: [{ type: 'command', command: 'cat >> "$STOPS"; echo >> "$STOPS"' }] };
    const settings = { hooks: { Notification: [tell], StopFailure: [tell] } };
    const script =
      '- wait\n- say: Heard\n- ask: May I?\n- say: Thanks\n- error: { kind: rate_limited, message: slow down }\n- say: Back';
    const played = await play(script, { settings, env: stops.env, messages: ['first', 'yes', 'go on'] });
    expect(stops.read()).toMatchObject([
      { hook_event_name: 'Notification', notification_type: 'permission_prompt', message: 'May I?' },
      { hook_event_name: 'StopFailure', error: 'rate_limited', error_details: 'slow down' },
    ]);
    expect(played.lines.filter(({ type }) => type === 'result')).toMatchObject([
      { is_error: true },
      { result: 'Back' },
    ]);
    expect(await play(script, { messages: ['first', 'yes'] })).toMatchObject({ code: 1 });
  });

  it('crashes, prints garbage and floods', async () => {
    expect(await play('- print: "{\\"type\\": "\n- crash: 3')).toMatchObject({ code: 3 });
    expect(await play('- crash')).toMatchObject({ code: null });
    const { lines } = await play('- flood: 200000');
    const flooded = lines.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');
    expect(flooded.replaceAll(/[^x]/g, '').length).toBeGreaterThan(199_000);
  });

  inLongLane(() => {
    it('continues where it was when it is resumed, and does not repeat a step', async () => {
      const keep = join(folder, 'keep');
      mkdirSync(keep, { recursive: true });
      const script = '- say: One\n- crash: 9\n- say: Two\n- stop\n- say: Three\n';
      expect(await play(script, { args: ['--keep', keep, '--session-id', 'c1'] })).toMatchObject({ code: 9 });
      const second = await play(script, {
        args: ['--keep', keep, '--resume', 'c1', '--prompted'],
        messages: ['Where were you?'],
      });
      expect(wordsOf(second)).toEqual(['Two']);
      const third = await play(script, { args: ['--keep', keep, '--resume', 'c1'] });
      expect(wordsOf(third)).toEqual(['Three']);
      const kept: unknown = JSON.parse(readFileSync(join(keep, 'scripted-c1.json'), 'utf8'));
      expect(kept).toMatchObject({
        id: 'c1',
        position: 5,
        messages: [{ text: 'One' }, { from: 'user', text: 'Where were you?' }, { text: 'Two' }, { text: 'Three' }],
      });
    });
  });

  it('commits', async () => {
    const { lines } = await play(
      "- run: git init --quiet\n- write: { path: x, text: y }\n- commit: It's saved\n- run: git log --format=%s",
    );
    expect(JSON.stringify(lines.at(-2))).toContain("It's saved");
  });

  it('reports the place of a mistake in its script', async () => {
    const { code, err } = await play('- say: Hello\n- comit: x\n');
    expect([code, err]).toEqual([
      2,
      'Error: Unknown step: comit [invalid-script]\n  at script.yaml:2:3\n2 | - comit: x\n      ^\n  hint: Did you mean `commit`?\n',
    ]);
  });
});

/** What the hook does, and whether the agent continues (`true`). The same table is in docs/agents.md. */
const COMMANDS: readonly (readonly [string, string, boolean])[] = [
  ['exit 0 and block JSON', `echo '${BLOCK}'`, true],
  ['exit 2 and standard error', 'echo stay >&2; exit 2', true],
  ['exit 1 with block JSON', `echo '${BLOCK}'; exit 1`, true],
  ['exit 1', 'exit 1', false],
  ['exit 3', 'exit 3', false],
  ['a command that there is not', 'no-such-command', false],
  ['bad JSON', 'echo "{"', false],
  ['text before the JSON', `echo hello; echo '${BLOCK}'`, false],
  ['continue: false', 'echo \'{"continue":false,"decision":"block","reason":"x"}\'', false],
];

describe('a stop hook that is a command', () => {
  it.each(COMMANDS)('%s', async (_, script, goesOn) => {
    const { lines } = await play('- say: Done\n- stop\n- say: Went on\n- crash: 0', { settings: command(script) });
    expect(wordsIn(lines).includes('Went on')).toBe(goesOn);
  });

  it('lets the agent end if it takes too long', async () => {
    const settings = stopHook({ type: 'command', command: `exec sleep 60`, timeout: 0.2 });
    expect(await play('- stop\n- say: Went on', { settings })).toMatchObject({ code: 0, lines: { length: 2 } });
  });

  it('blocks beside one without an answer', async () => {
    const hooks = [
      { type: 'command', command: 'true' },
      { type: 'command', command: `echo '${BLOCK}'` },
    ];
    const { lines } = await play('- stop\n- say: Went on\n- crash: 0', { settings: { hooks: { Stop: [{ hooks }] } } });
    expect(wordsIn(lines)).toEqual(['Went on']);
  });
});

const RESPONSES: readonly (readonly [number, string, boolean])[] = [
  [200, BLOCK, true],
  [201, BLOCK, true],
  [204, '', false],
  [302, BLOCK, false],
  [404, BLOCK, false],
  [500, BLOCK, false],
  [200, 'block', false],
  [200, '{}', false],
];

describe('a stop hook over HTTP', () => {
  it.each(RESPONSES)('%i %s', async (status, body, goesOn) => {
    const seen: (string | undefined)[] = [];
    const url = await serve((headers) => {
      seen.push(headers);
      return { status, body };
    });
    const hook = { type: 'http', url, headers: { authorization: 'Bearer $TOKEN $SECRET' }, allowedEnvVars: ['TOKEN'] };
    const env = { TOKEN: 'abc', SECRET: 'hidden' };
    const { lines } = await play('- stop\n- say: Went on\n- crash: 0', { settings: stopHook(hook), env });
    expect(wordsIn(lines).includes('Went on')).toBe(goesOn);
    expect(seen).toEqual(['Bearer abc']);
  });

  it('lets the agent end if there is no answer', async () => {
    const { lines } = await play('- stop\n- say: Went on', {
      settings: stopHook({ type: 'http', url: 'http://127.0.0.1:1/' }),
    });
    expect(wordsIn(lines)).toEqual([]);
  });

  it('is off if all hooks are', async () => {
    const settings = { ...command(`echo '${BLOCK}'`), disableAllHooks: true };
    expect(wordsOf(await play('- stop\n- say: Went on', { settings }))).toEqual([]);
  });
});

async function serve(
  answer: (authorization: string | undefined) => { readonly status: number; readonly body: string },
): Promise<string> {
  const server = createServer((request, response) => {
    const { status, body } = answer(request.headers.authorization);
    response.writeHead(status, { location: '/elsewhere' }).end(body);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hook`;
}

function wordsOf({ lines }: Played): string[] {
  return wordsIn(lines);
}

function wordsIn(lines: readonly Record<string, unknown>[]): string[] {
  return lines.flatMap((line) => {
    const { content }: { content?: readonly { type: string; text: string }[] } = Object(line['message']);
    return line['type'] === 'assistant'
      ? (content ?? []).filter(({ type }) => type === 'text').map(({ text }) => text)
      : [];
  });
}
