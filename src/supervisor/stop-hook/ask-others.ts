import { readdirSync, readFileSync } from 'node:fs';
import { findStateDir } from '../../api/state-folder.ts';
import { decideStop } from '../../protocol/decide-stop.ts';
import { renderStopHookOutput } from '../../protocol/stop-hook.ts';
import { agentFiles } from '../contract.ts';
import { readHookConfig } from '../hooks/hook-config.ts';
import { askSupervisor, type HookKind } from './ask-supervisor.ts';
import { decideStopAlone } from './decide-alone.ts';

/** For a hook that does not find its supervisor in the environment: clients may keep theirs from their hooks. */
export async function askWithoutSupervisor(agentId: string, input: Uint8Array, kind: HookKind): Promise<string> {
  const files = agentFiles(findStateDir(process.env), agentId);
  const config = readHookConfig(files.config);
  const start = config.start ?? newestStart(files.folder);
  const port = fieldIn(files.running(start), 'port');
  const token = process.env['BATON_TOKEN'] || fieldIn(files.launch(start), 'agent_token');
  const isKnown = typeof port === 'number' && typeof token === 'string';
  const answer = isKnown ? await askSupervisor(port, token, input, kind) : undefined;
  if (kind === 'pre-tool-use') return answer ?? '';
  return answer ?? decideStopAlone({ agentId, files, config: { ...config, start }, input });
}

/** Without knowing anything: it is told what it would be told at its first stop. */
export function blockByConfig(agentId: string): string {
  const { on_stop: onStop } = readHookConfig(agentFiles(findStateDir(process.env), agentId).config);
  const first = { attempts: undefined, isHookActive: false, blocks: 0, totalBlocks: 0, maxBlocks: 1, missing: [] };
  const attempt = { agentId, onStop, ...first, hasSignalled: false, isOwned: true, isParked: false };
  return renderStopHookOutput(decideStop(attempt).output);
}

/** For a folder whose config is lost. */
function newestStart(folder: string): number {
  try {
    const starts = readdirSync(folder).map((name) => Number(/^launch-(\d+)\.json$/.exec(name)?.[1] ?? 0));
    return Math.max(0, ...starts);
  } catch {
    return 0;
  }
}

function fieldIn(path: string, name: string): unknown {
  try {
    const fields: Record<string, unknown> = { ...JSON.parse(readFileSync(path, 'utf8')) };
    return fields[name];
  } catch {
    return undefined;
  }
}
