import { readFileSync } from 'node:fs';
import { HANDLERS, type StopAction } from '../../protocol/run-plan.ts';
import type { HookConfig } from '../contract.ts';

/**
 * Reads how an agent may stop. A missing or unreadable file means `signal`: a disk fault must never let an agent stop.
 */
export function readHookConfig(path: string): HookConfig {
  let config: unknown;
  try {
    config = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return SIGNAL;
  }
  if (typeof config !== 'object' || config === null || !('on_stop' in config)) return SIGNAL;
  return {
    on_stop: isStopAction(config.on_stop) ? config.on_stop : 'signal',
    ...('attempts' in config && isAttempts(config.attempts) ? { attempts: config.attempts } : {}),
    ...numberIn(config, 'max_blocks'),
    ...numberIn(config, 'blocks_before'),
    ...('ignores_flag' in config && config.ignores_flag === true ? { ignores_flag: true as const } : {}),
    ...('start' in config && Number.isSafeInteger(config.start) ? { start: Number(config.start) } : {}),
  };
}

const SIGNAL: HookConfig = { on_stop: 'signal' };

function isStopAction(value: unknown): value is StopAction {
  return HANDLERS.on_stop.actions.some((action) => action === value);
}

function numberIn<N extends string>(config: object, name: N): { readonly [K in N]?: number } {
  const value: unknown = Reflect.get(config, name);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) return {};
  return { [name]: value } as { readonly [K in N]: number }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function isAttempts(value: unknown): value is number | 'forever' {
  return value === 'forever' || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
}
