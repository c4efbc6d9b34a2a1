import type { Io } from '../command.ts';

/** Colours where somebody looks, unless they have asked for none (no-color.org). */
export function wantsColors({ env, isTerminal }: Pick<Io, 'env' | 'isTerminal'>): boolean {
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}
