import { readFileIfPresent } from '../../api/files.ts';
import { HANDLERS } from '../../protocol/run-plan.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import type { HookConfig } from '../contract.ts';

/**
 * Reads the hook's configuration. A missing or unreadable file means `signal`: a disk fault must never let an agent
 * stop.
 */
export function readHookConfig(path: string): HookConfig {
  const fields = fieldsInJson(readFileIfPresent(path));
  const { on_stop, attempts, max_blocks, blocks_before, ignores_flag, start } = fields;
  if (on_stop === undefined) return { on_stop: 'signal' };
  return {
    on_stop: HANDLERS.on_stop.actions.find((action) => action === on_stop) ?? 'signal',
    ...(attempts === 'forever' || isCount(attempts) ? { attempts } : {}),
    ...(isCount(max_blocks) ? { max_blocks } : {}),
    ...(isCount(blocks_before) ? { blocks_before } : {}),
    ...(ignores_flag === true ? { ignores_flag } : {}),
    ...(isCount(start) ? { start } : {}),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
