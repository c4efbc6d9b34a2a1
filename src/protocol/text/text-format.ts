import type { TextFormat } from '../shape/shape.ts';

/** The formats that a pattern cannot say in one readable line. Each is a yes or no about one text. */
export const TEXT_FORMATS: Record<TextFormat, (text: string) => boolean> = {
  'iso-8601': isIso8601,
  'relative-path': isRelativePath,
  'git-ref': isGitRef,
  'git-sha': (text) => /^[0-9a-f]{1,64}$/i.test(text),
};

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:Z|[+-](\d\d):?(\d\d))?$/;

/** A date and a time of ISO 8601's extended form, on a day that exists. */
export function isIso8601(text: string): boolean {
  const parts = DATE_TIME.exec(text);
  if (!parts) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth;
  return isDay && hour <= 23 && minute <= 59 && second <= 60 && zoneHour <= 23 && zoneMinute <= 59;
}

/** A path that stays below the folder it is relative to, on every system. */
export function isRelativePath(path: string): boolean {
  if (path === '' || /^[/\\]|^[A-Za-z]:|\p{Cc}/u.test(path)) return false;
  return !path.split(/[/\\]/).includes('..');
}

/** The rules of `git check-ref-format --branch`: a name that git takes and that no command line takes for an option. */
export function isGitRef(name: string): boolean {
  if (name === '@' || name === 'HEAD' || name.startsWith('-') || name.endsWith('.')) return false;
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.test(name)) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}
