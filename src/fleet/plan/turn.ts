/**
 * Milliseconds for which this host leaves work recorded by another host to the other hosts. If all hosts with waiting
 * sessions tried at once, one commit would succeed and the others would have to decide again.
 * `waiting` lists the hosts with waiting sessions. Their order changes with each entry, which spreads the load. The
 * first two hosts try at once: if the first has no waiting session after all, a collision of two costs less than a
 * pause.
 */
export function turnPauseMs(host: string, waiting: readonly string[], seq: number): number {
  // If this host's sessions have waited for less than a second, it goes after the hosts in `waiting`.
  const own = waiting.includes(host) ? placeOf(host, seq) : Number.POSITIVE_INFINITY;
  const before = waiting.filter((other) => other !== host && placeOf(other, seq) < own).length;
  return Math.max(0, before - AT_ONCE + 1) * STEP_MS;
}

const AT_ONCE = 2;
/** Longer than a commit and its notification take on a nearby server. */
const STEP_MS = 8;

/** FNV-1a. Any even hash works, as long as all hosts use the same one. */
function placeOf(host: string, seq: number): number {
  let hash = 0x81_1c_9d_c5;
  for (const char of `${seq} ${host}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01_00_01_93);
  return hash >>> 0;
}
