/**
 * How long this host leaves work that another host has recorded to others. If all hosts with waiting sessions tried at
 * once, one commit would succeed and the others would be decided again. The order is another one for each entry, so the
 * load is even. The first two try at once: a collision of two costs less than a pause, if the first has nobody waiting.
 */
export function turnPauseMs(host: string, hosts: readonly string[], seq: number): number {
  const own = placeOf(host, seq);
  const before = hosts.filter((other) => other !== host && placeOf(other, seq) < own).length;
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
