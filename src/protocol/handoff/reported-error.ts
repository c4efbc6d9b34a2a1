import { HANDOFF_DIALECT } from './dialect.ts';
import { isHandoffOn } from './handoff.ts';

/** What an agent reports in an error handoff. */
export interface ReportedError {
  readonly type: string;
  readonly message: string;
  readonly details: string;
  readonly recoverable: boolean;
  readonly suggestedAction: string;
}

interface SentHandoff {
  readonly to: string | null;
  readonly xml: string;
}

/** Reports whether a handoff reports a failure to Baton instead of passing work on. */
export function isErrorHandoff({ to }: Pick<SentHandoff, 'to'>): boolean {
  return to === 'orchestrator';
}

/** Returns the error of an error handoff; undefined for every other handoff. */
export function findReportedError(handoff: SentHandoff): ReportedError | undefined {
  if (!isErrorHandoff(handoff)) return undefined;
  const parsed = HANDOFF_DIALECT.parse(handoff.xml);
  if (!parsed.ok || !isHandoffOn(parsed.value, '*', 'orchestrator')) return undefined;
  const { type, message, details, recoverable, suggested_action: suggestedAction } = parsed.value.error;
  return { type, message, details, recoverable, suggestedAction };
}

/** Renders one line for people. Each part is cut, because it may be as long as the handoff. */
export function summarizeError({ type, message, suggestedAction }: ReportedError): string {
  return `${toLine(type, 100)}: ${toLine(message, 500)}; suggested action: ${toLine(suggestedAction, 500)}`;
}

function toLine(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
