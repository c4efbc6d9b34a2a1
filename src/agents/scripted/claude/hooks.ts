import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { fieldsInJson, textOf } from '../../../protocol/shape/read-unknown.ts';

/** Hooks by event, as in a settings file of Claude Code. */
type HookTable = Readonly<Record<string, readonly { readonly hooks?: readonly Hook[] }[]>>;
/** Runs all hooks of an event in parallel. A result that ends the agent takes precedence over a block. */
export type FireHooks = (event: string, fields: object) => Promise<HookAnswer>;

export function readHooks(settings: string | undefined, sessionId: string): FireHooks {
  const table = settings === undefined ? {} : tableIn(settings);
  const common = {
    session_id: sessionId,
    transcript_path: `${process.cwd()}/${sessionId}.jsonl`,
    cwd: process.cwd(),
    prompt_id: 'prompt-1',
    permission_mode: 'default',
  };
  return async (event, fields) => {
    const hooks = (table[event] ?? []).flatMap((matcher) => matcher.hooks ?? []);
    const input = { ...common, hook_event_name: event, ...fields };
    const answers = await Promise.all(hooks.map(async (hook) => runScriptedHook(hook, input)));
    const found = (kind: HookAnswer['kind']): HookAnswer | undefined => answers.find((answer) => answer.kind === kind);
    return found('end') ?? found('block') ?? NOTHING;
  };
}

function tableIn(path: string): HookTable {
  const read: { hooks?: HookTable; disableAllHooks?: unknown } = Object(JSON.parse(readFileSync(path, 'utf8')));
  return read.disableAllHooks === true ? {} : (read.hooks ?? {});
}

interface Hook {
  readonly type: 'http' | 'command';
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly allowedEnvVars?: readonly string[];
  readonly command?: string;
  readonly timeout?: number;
}

/** A hook's result: continue with a reason, end, or nothing (as in Claude Code, a broken hook has no effect). */
type HookAnswer =
  | { readonly kind: 'block'; readonly reason: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'nothing' };

async function runScriptedHook(hook: Hook, input: object): Promise<HookAnswer> {
  const body = JSON.stringify(input);
  const timeoutMs = (hook.timeout ?? 600) * 1000;
  return hook.type === 'http' ? askHttp(hook, body, timeoutMs) : runCommand(hook, body, timeoutMs);
}

const NOTHING: HookAnswer = { kind: 'nothing' };

/** Only status 200 or 201 with JSON counts. Any other response lets the agent stop. */
async function askHttp(
  { url = '', headers = {}, allowedEnvVars = [] }: Hook,
  body: string,
  timeoutMs: number,
): Promise<HookAnswer> {
  const filled = Object.entries(headers).map(([name, value]) => [name, fillIn(value, allowedEnvVars)] as const);
  return new Promise((resolve) => {
    const fail = (): void => resolve(NOTHING);
    let sent: ReturnType<typeof request>;
    try {
      sent = request(url, {
        method: 'POST',
        agent: false,
        timeout: timeoutMs,
        headers: {
          'content-type': 'application/json',
          ...Object.fromEntries(filled),
          'content-length': Buffer.byteLength(body),
        },
      });
    } catch {
      return fail();
    }
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.once('end', () =>
        resolve(response.statusCode === 200 || response.statusCode === 201 ? parseHookAnswer(text) : NOTHING),
      );
      response.once('error', fail);
    });
    sent.once('timeout', () => sent.destroy(new Error('timeout')));
    sent.once('error', fail);
    sent.end(body);
  });
}

/**
 * JSON counts with any exit code. Code 2 blocks, with standard error as the reason. Anything else lets the agent stop.
 */
async function runCommand({ command = '' }: Hook, body: string, timeoutMs: number): Promise<HookAnswer> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'pipe'] });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve(NOTHING);
    }, timeoutMs);
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece));
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (err += piece));
    child.stdin.on('error', () => {});
    child.once('error', () => resolve(NOTHING));
    child.once('close', (code) => {
      clearTimeout(timer);
      const answer = parseHookAnswer(out);
      resolve(answer.kind === 'nothing' && code === 2 ? { kind: 'block', reason: err.trim() } : answer);
    });
    child.stdin.end(body);
  });
}

/** Output with text before the JSON does not count as JSON. */
function parseHookAnswer(text: string): HookAnswer {
  const { decision, reason, continue: continues } = fieldsInJson(text);
  if (continues === false) return { kind: 'end' };
  return decision === 'block' ? { kind: 'block', reason: textOf(reason) } : NOTHING;
}

function fillIn(value: string, allowed: readonly string[]): string {
  return value.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? '';
    return allowed.includes(name) ? (process.env[name] ?? '') : '';
  });
}
