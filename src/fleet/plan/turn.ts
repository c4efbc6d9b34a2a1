/**
 * How long this host leaves work that another host has recorded to others. If all hosts with waiting sessions tried at
 * once, one commit would succeed and the others would be decided again. `waiting`: the hosts with such sessions. The order is another one for each entry, so the
 * load is even. The first two try at once: a collision of two costs less than a pause, if the first has nobody waiting.
 */
export function turnPauseMs(host: string, waiting: readonly string[], seq: number): number {
  // A host whose sessions have waited for less than a second is after those that are known to wait.
  const own = waiting.includes(host) ? placeOf(host, seq) : Number.POSITIVE_INFINITY;
  const before = waiting.filter((other) => other !== host && placeOf(other, seq) < own).length;
  return Math.max(0, before - AT_ONCE + 1) * STEP_MS;
}

const AT_ONCE = 2;
/** A commit and its notification take less, on a server that is not far away. */
const STEP_MS = 8;

/** FNV-1a: any even spread will do, as long as all hosts agree. */
function placeOf(host: string, seq: number): number {
  let hash = 0x81_1c_9d_c5;
  for (const char of `${seq} ${host}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01_00_01_93);
  return hash >>> 0;
}
