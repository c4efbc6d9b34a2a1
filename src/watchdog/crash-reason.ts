/** Why a daemon ended, by the end of its log: what Node printed behind the daemon's own lines, which are JSON. */
export function crashReason(logEnd: string): string {
  const lines = logEnd.split('\n').map((line) => line.trim());
  const behind = lines
    .slice(lines.findLastIndex((line) => line.startsWith('{"at":')) + 1)
    .filter((line) => line !== '');
  const error = behind.find((line) => /^(?:\w*Error|FATAL ERROR)\b/.test(line)) ?? behind[0];
  return error?.slice(0, MAX_LENGTH) ?? 'it was killed, or crashed without a message';
}

const MAX_LENGTH = 300;
