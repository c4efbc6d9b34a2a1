/** How long ago something was, in two characters or three: `5s`, `12m`, `3h`, `4d`. */
export function renderAge(at: string | null, nowMs: number): string {
  const atMs = at === null ? NaN : Date.parse(at);
  if (Number.isNaN(atMs)) return '';
  // Clocks differ; nothing has begun in the future.
  const seconds = Math.max(0, Math.floor((nowMs - atMs) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
