import type { RecordedEvent } from '../event.ts';
import { describeFields, describeHandoff, describeRecord } from './describe-message.ts';
import { describeResult } from './describe-session.ts';

/** Describes a session's report in an entry; undefined if the entry reports nothing. */
export function describeSaid({
  type,
  data,
}: RecordedEvent): { readonly what: SaidKind; readonly text: string } | undefined {
  switch (type) {
    case 'ResultSubmitted':
      return { what: 'result', text: joinReports(describeResult(data.result)) };
    case 'ThoughtRecorded':
      return { what: 'record', text: describeRecord(data.record) };
    case 'HandoffHeld':
      return { what: 'handoff', text: describeHandoff(data) };
    case 'AgentSessionCompleted': {
      const { claimed_exit_reason, exit_reason, notes, pr_url, evidence_bundle_ref } = data;
      const reason = claimed_exit_reason ?? exit_reason;
      return { what: 'exit', text: describeFields(Object.entries({ reason, notes, pr_url, evidence_bundle_ref })) };
    }
    case 'EvidenceRecorded': {
      const { commands, failed_approaches, decisions, next_step, head_sha } = data;
      const run = commands.map((command) => `${command.run} (exit code ${command.exit_code})`);
      const fields = { next_step, failed_approaches, decisions, commands: run, head_sha };
      return { what: 'evidence', text: describeFields(Object.entries(fields)) };
    }
    case 'TaskProgressed':
      return { what: 'progress', text: describeFields(Object.entries({ progress: data.progress, notes: data.notes })) };
    case 'AgentSignalled':
      return { what: 'signal', text: describeFields(Object.entries({ kind: data.kind, message: data.message })) };
    case 'AgentPrompted':
      return { what: 'question', text: data.prompt };
    default:
      return undefined;
  }
}

type SaidKind = 'result' | 'record' | 'handoff' | 'exit' | 'evidence' | 'progress' | 'signal' | 'question';

function joinReports(reports: ReturnType<typeof describeResult>): string {
  return reports.map(({ title, text }) => `${title}\n${text}`.trimEnd()).join('\n');
}
