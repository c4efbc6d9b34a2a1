import { readFileSync } from 'node:fs';
import { runScriptedHook, type Hook, type HookAnswer } from './run-hook.ts';

/** Hooks by event, as they stand in a settings file of Claude Code. */
type HookTable = Readonly<Record<string, readonly { readonly hooks?: readonly Hook[] }[]>>;

/** Fires the hooks of an event, all at once. One that ends the agent counts more than one that blocks it. */
export type FireHooks = (event: string, fields: object) => Promise<HookAnswer>;

/** The hooks of a settings file; without one there are none. */
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
    return found('end') ?? found('block') ?? { kind: 'nothing' };
  };
}

function tableIn(path: string): HookTable {
  const read: { hooks?: HookTable; disableAllHooks?: unknown } = Object(JSON.parse(readFileSync(path, 'utf8')));
  return read.disableAllHooks === true ? {} : (read.hooks ?? {});
}
