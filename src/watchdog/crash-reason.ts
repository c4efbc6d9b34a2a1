/**
 * Why a daemon ended, by the end of its log: its own last line, if that names an internal error, or else what Node printed behind the
 * daemon's lines, which are JSON.
 */
export function crashReason(logEnd: string): string {
  const lines = logEnd.split('\n').map((line) => line.trim());
  const last = lines.findLastIndex((line) => line.startsWith('{"at":'));
  const behind = lines.slice(last + 1).filter((line) => line !== '');
  const printed = behind.find((line) => /^(?:\w*Error|FATAL ERROR)\b/.test(line)) ?? behind[0];
  const reason = printed ?? causeIn(lines[last] ?? '');
  return reason?.slice(0, MAX_LENGTH) ?? 'it was killed, or crashed without a message';
}

const MAX_LENGTH = 300;

function causeIn(line: string): string | undefined {
  try {
    const { message, cause }: Record<string, unknown> = { ...JSON.parse(line) };
    const isCrash = typeof message === 'string' && message.startsWith('the daemon ');
    return isCrash && typeof cause === 'string' ? cause.split('\n')[0] : undefined;
  } catch {
    return undefined;
  }
}
