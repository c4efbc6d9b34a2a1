import type { Finding } from '../../protocol/shape/finding.ts';
import { NAMED_SECTIONS } from './subject.ts';
import type { RunbookValue } from '../shape/runbook-shape.ts';

/** The definitions that nothing was found against: the rules can rely on their form. */
export function withoutFaultyDefinitions(value: RunbookValue, findings: readonly Finding[]): RunbookValue {
  if (findings.length === 0) return value;
  const paths = findings.map(({ path }) => path);
  const isSound = (path: string): boolean => !paths.some((found) => isWithin(found, path));
  const sections = Object.entries(value).flatMap(([name, section]): (readonly [string, unknown])[] => {
    if (!isNamed(name)) return isSound(name) ? [[name, section]] : [];
    if (typeof section !== 'object' || section === null) return [];
    return [[name, Object.fromEntries(Object.entries(section).filter(([inner]) => isSound(`${name}.${inner}`)))]];
  });
  // Leaving definitions out changes nothing about the form of the others.
  return Object.fromEntries(sections);
}

function isNamed(name: string): boolean {
  return NAMED_SECTIONS.some((section) => section === name);
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
}
